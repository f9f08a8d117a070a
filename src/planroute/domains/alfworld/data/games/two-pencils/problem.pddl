;; A study; one pencil lies on a shelf, the other is in a closed drawer, and the safe is closed.
;; The goal: find two pencil and put them in safe.
(define (problem two-pencils)
    (:domain alfred)
    (:objects
        agent1 - agent
        BookType - otype
        CDType - otype
        CreditCardType - otype
        KeyChainType - otype
        LaptopType - otype
        NewspaperType - otype
        PenType - otype
        PencilType - otype
        PillowType - otype
        VaseType - otype
        WatchType - otype
        DeskType - rtype
        DrawerType - rtype
        GarbageCanType - rtype
        SafeType - rtype
        ShelfType - rtype
        SofaType - rtype
        Book_bar_a - object
        CD_bar_a - object
        CD_bar_b - object
        CreditCard_bar_a - object
        KeyChain_bar_a - object
        Laptop_bar_a - object
        Newspaper_bar_a - object
        Pen_bar_a - object
        Pen_bar_b - object
        Pencil_bar_a - object
        Pencil_bar_b - object
        Pillow_bar_a - object
        Vase_bar_a - object
        Watch_bar_a - object
        Desk_bar_a - receptacle
        Desk_bar_b - receptacle
        Shelf_bar_a - receptacle
        Shelf_bar_b - receptacle
        Drawer_bar_a - receptacle
        Drawer_bar_b - receptacle
        Drawer_bar_c - receptacle
        Drawer_bar_d - receptacle
        Safe_bar_a - receptacle
        Sofa_bar_a - receptacle
        GarbageCan_bar_a - receptacle
        loc_bar_0 - location
        loc_bar_1 - location
        loc_bar_2 - location
        loc_bar_3 - location
        loc_bar_4 - location
        loc_bar_5 - location
        loc_bar_6 - location
        loc_bar_7 - location
        loc_bar_8 - location
        loc_bar_9 - location
        loc_bar_10 - location
        loc_bar_11 - location
    )
    (:init
        (atLocation agent1 loc_bar_0)

        (receptacleType Desk_bar_a DeskType) (receptacleAtLocation Desk_bar_a loc_bar_1)
        (receptacleType Desk_bar_b DeskType) (receptacleAtLocation Desk_bar_b loc_bar_2)
        (receptacleType Shelf_bar_a ShelfType) (receptacleAtLocation Shelf_bar_a loc_bar_3)
        (receptacleType Shelf_bar_b ShelfType) (receptacleAtLocation Shelf_bar_b loc_bar_4)
        (receptacleType Drawer_bar_a DrawerType) (receptacleAtLocation Drawer_bar_a loc_bar_5) (openable Drawer_bar_a)
        (receptacleType Drawer_bar_b DrawerType) (receptacleAtLocation Drawer_bar_b loc_bar_6) (openable Drawer_bar_b)
        (receptacleType Drawer_bar_c DrawerType) (receptacleAtLocation Drawer_bar_c loc_bar_7) (openable Drawer_bar_c)
        (receptacleType Drawer_bar_d DrawerType) (receptacleAtLocation Drawer_bar_d loc_bar_8) (openable Drawer_bar_d)
        (receptacleType Safe_bar_a SafeType) (receptacleAtLocation Safe_bar_a loc_bar_9) (openable Safe_bar_a)
        (receptacleType Sofa_bar_a SofaType) (receptacleAtLocation Sofa_bar_a loc_bar_10)
        (receptacleType GarbageCan_bar_a GarbageCanType) (receptacleAtLocation GarbageCan_bar_a loc_bar_11)

        (canContain DeskType LaptopType)
        (canContain DeskType PenType)
        (canContain DeskType PencilType)
        (canContain DeskType BookType)
        (canContain DeskType VaseType)
        (canContain DeskType CDType)
        (canContain DeskType CreditCardType)
        (canContain DeskType KeyChainType)
        (canContain DeskType WatchType)
        (canContain DeskType NewspaperType)
        (canContain DrawerType CreditCardType)
        (canContain DrawerType KeyChainType)
        (canContain DrawerType PencilType)
        (canContain DrawerType PenType)
        (canContain DrawerType CDType)
        (canContain DrawerType WatchType)
        (canContain DrawerType BookType)
        (canContain DrawerType NewspaperType)
        (canContain GarbageCanType CDType)
        (canContain GarbageCanType PencilType)
        (canContain GarbageCanType PenType)
        (canContain GarbageCanType NewspaperType)
        (canContain SafeType WatchType)
        (canContain SafeType KeyChainType)
        (canContain SafeType CreditCardType)
        (canContain SafeType PencilType)
        (canContain SafeType CDType)
        (canContain ShelfType VaseType)
        (canContain ShelfType PencilType)
        (canContain ShelfType PenType)
        (canContain ShelfType BookType)
        (canContain ShelfType CDType)
        (canContain ShelfType CreditCardType)
        (canContain ShelfType KeyChainType)
        (canContain ShelfType WatchType)
        (canContain SofaType NewspaperType)
        (canContain SofaType PillowType)
        (canContain SofaType LaptopType)
        (canContain SofaType BookType)
        (canContain SofaType CreditCardType)
        (canContain SofaType KeyChainType)

        (objectType Laptop_bar_a LaptopType) (inReceptacle Laptop_bar_a Desk_bar_a) (objectAtLocation Laptop_bar_a loc_bar_1)
            (pickupable Laptop_bar_a)
        (objectType Pen_bar_a PenType) (inReceptacle Pen_bar_a Desk_bar_a) (objectAtLocation Pen_bar_a loc_bar_1)
            (pickupable Pen_bar_a)
        (objectType Book_bar_a BookType) (inReceptacle Book_bar_a Desk_bar_b) (objectAtLocation Book_bar_a loc_bar_2)
            (pickupable Book_bar_a)
        (objectType Pen_bar_b PenType) (inReceptacle Pen_bar_b Desk_bar_b) (objectAtLocation Pen_bar_b loc_bar_2)
            (pickupable Pen_bar_b)
        (objectType Vase_bar_a VaseType) (inReceptacle Vase_bar_a Shelf_bar_a) (objectAtLocation Vase_bar_a loc_bar_3)
            (pickupable Vase_bar_a)
        (objectType Pencil_bar_a PencilType) (inReceptacle Pencil_bar_a Shelf_bar_a) (objectAtLocation Pencil_bar_a loc_bar_3)
            (pickupable Pencil_bar_a)
        (objectType CD_bar_a CDType) (inReceptacle CD_bar_a Shelf_bar_b) (objectAtLocation CD_bar_a loc_bar_4)
            (pickupable CD_bar_a)
        (objectType CreditCard_bar_a CreditCardType) (inReceptacle CreditCard_bar_a Drawer_bar_a) (objectAtLocation CreditCard_bar_a loc_bar_5)
            (pickupable CreditCard_bar_a)
        (objectType KeyChain_bar_a KeyChainType) (inReceptacle KeyChain_bar_a Drawer_bar_b) (objectAtLocation KeyChain_bar_a loc_bar_6)
            (pickupable KeyChain_bar_a)
        (objectType Pencil_bar_b PencilType) (inReceptacle Pencil_bar_b Drawer_bar_c) (objectAtLocation Pencil_bar_b loc_bar_7)
            (pickupable Pencil_bar_b)
        (objectType Watch_bar_a WatchType) (inReceptacle Watch_bar_a Safe_bar_a) (objectAtLocation Watch_bar_a loc_bar_9)
            (pickupable Watch_bar_a)
        (objectType Newspaper_bar_a NewspaperType) (inReceptacle Newspaper_bar_a Sofa_bar_a) (objectAtLocation Newspaper_bar_a loc_bar_10)
            (pickupable Newspaper_bar_a)
        (objectType Pillow_bar_a PillowType) (inReceptacle Pillow_bar_a Sofa_bar_a) (objectAtLocation Pillow_bar_a loc_bar_10)
            (pickupable Pillow_bar_a)
        (objectType CD_bar_b CDType) (inReceptacle CD_bar_b GarbageCan_bar_a) (objectAtLocation CD_bar_b loc_bar_11)
            (pickupable CD_bar_b)
    )
    (:goal
        (and
            (exists (?r - receptacle)
                (exists (?o1 - object)
                    (exists (?o2 - object)
                        (and
                            (not (= ?o1 ?o2))
                            (objectType ?o1 PencilType)
                            (objectType ?o2 PencilType)
                            (receptacleType ?r SafeType)
                            (inReceptacle ?o1 ?r)
                            (inReceptacle ?o2 ?r)
                        )
                    )
                )
            )
        )
    )
)
