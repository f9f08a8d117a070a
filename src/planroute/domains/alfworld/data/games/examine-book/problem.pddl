;; A bedroom; the book is in a closed drawer, the lamp stands on a side table.
;; The goal: examine the book with the desklamp.
(define (problem examine-book)
    (:domain alfred)
    (:objects
        agent1 - agent
        AlarmClockType - otype
        BookType - otype
        BowlType - otype
        CDType - otype
        CellPhoneType - otype
        CreditCardType - otype
        DeskLampType - otype
        KeyChainType - otype
        LaptopType - otype
        MugType - otype
        PenType - otype
        PencilType - otype
        PillowType - otype
        StatueType - otype
        WatchType - otype
        BedType - rtype
        DeskType - rtype
        DrawerType - rtype
        DresserType - rtype
        GarbageCanType - rtype
        SafeType - rtype
        ShelfType - rtype
        SideTableType - rtype
        AlarmClock_bar_a - object
        Book_bar_a - object
        Bowl_bar_a - object
        CD_bar_a - object
        CD_bar_b - object
        CD_bar_c - object
        CellPhone_bar_a - object
        CreditCard_bar_a - object
        DeskLamp_bar_a - object
        KeyChain_bar_a - object
        Laptop_bar_a - object
        Mug_bar_a - object
        Pen_bar_a - object
        Pencil_bar_a - object
        Pillow_bar_a - object
        Pillow_bar_b - object
        Statue_bar_a - object
        Watch_bar_a - object
        Bed_bar_a - receptacle
        Desk_bar_a - receptacle
        Dresser_bar_a - receptacle
        Shelf_bar_a - receptacle
        Shelf_bar_b - receptacle
        SideTable_bar_a - receptacle
        Drawer_bar_a - receptacle
        Drawer_bar_b - receptacle
        Drawer_bar_c - receptacle
        Safe_bar_a - receptacle
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

        (receptacleType Bed_bar_a BedType) (receptacleAtLocation Bed_bar_a loc_bar_1)
        (receptacleType Desk_bar_a DeskType) (receptacleAtLocation Desk_bar_a loc_bar_2)
        (receptacleType Dresser_bar_a DresserType) (receptacleAtLocation Dresser_bar_a loc_bar_3)
        (receptacleType Shelf_bar_a ShelfType) (receptacleAtLocation Shelf_bar_a loc_bar_4)
        (receptacleType Shelf_bar_b ShelfType) (receptacleAtLocation Shelf_bar_b loc_bar_5)
        (receptacleType SideTable_bar_a SideTableType) (receptacleAtLocation SideTable_bar_a loc_bar_6)
        (receptacleType Drawer_bar_a DrawerType) (receptacleAtLocation Drawer_bar_a loc_bar_7) (openable Drawer_bar_a)
        (receptacleType Drawer_bar_b DrawerType) (receptacleAtLocation Drawer_bar_b loc_bar_8) (openable Drawer_bar_b)
        (receptacleType Drawer_bar_c DrawerType) (receptacleAtLocation Drawer_bar_c loc_bar_9) (openable Drawer_bar_c)
        (receptacleType Safe_bar_a SafeType) (receptacleAtLocation Safe_bar_a loc_bar_10) (openable Safe_bar_a)
        (receptacleType GarbageCan_bar_a GarbageCanType) (receptacleAtLocation GarbageCan_bar_a loc_bar_11)

        (canContain BedType PillowType)
        (canContain BedType LaptopType)
        (canContain BedType BookType)
        (canContain BedType CellPhoneType)
        (canContain DeskType PencilType)
        (canContain DeskType MugType)
        (canContain DeskType CellPhoneType)
        (canContain DeskType BookType)
        (canContain DeskType LaptopType)
        (canContain DeskType CDType)
        (canContain DeskType PenType)
        (canContain DeskType AlarmClockType)
        (canContain DeskType KeyChainType)
        (canContain DeskType CreditCardType)
        (canContain DeskType BowlType)
        (canContain DeskType StatueType)
        (canContain DeskType WatchType)
        (canContain DrawerType PenType)
        (canContain DrawerType PencilType)
        (canContain DrawerType BookType)
        (canContain DrawerType CreditCardType)
        (canContain DrawerType CDType)
        (canContain DrawerType KeyChainType)
        (canContain DrawerType WatchType)
        (canContain DrawerType CellPhoneType)
        (canContain DresserType StatueType)
        (canContain DresserType CDType)
        (canContain DresserType BookType)
        (canContain DresserType AlarmClockType)
        (canContain DresserType BowlType)
        (canContain DresserType KeyChainType)
        (canContain DresserType CellPhoneType)
        (canContain DresserType WatchType)
        (canContain DresserType MugType)
        (canContain GarbageCanType CDType)
        (canContain GarbageCanType PenType)
        (canContain GarbageCanType PencilType)
        (canContain SafeType WatchType)
        (canContain SafeType CreditCardType)
        (canContain SafeType KeyChainType)
        (canContain SafeType CellPhoneType)
        (canContain SafeType CDType)
        (canContain ShelfType AlarmClockType)
        (canContain ShelfType BowlType)
        (canContain ShelfType CDType)
        (canContain ShelfType BookType)
        (canContain ShelfType StatueType)
        (canContain ShelfType KeyChainType)
        (canContain ShelfType PenType)
        (canContain ShelfType PencilType)
        (canContain ShelfType WatchType)
        (canContain ShelfType MugType)
        (canContain ShelfType CreditCardType)
        (canContain SideTableType KeyChainType)
        (canContain SideTableType AlarmClockType)
        (canContain SideTableType BookType)
        (canContain SideTableType MugType)
        (canContain SideTableType CellPhoneType)
        (canContain SideTableType PenType)
        (canContain SideTableType PencilType)
        (canContain SideTableType WatchType)
        (canContain SideTableType CreditCardType)
        (canContain SideTableType CDType)

        (objectType Pillow_bar_a PillowType) (inReceptacle Pillow_bar_a Bed_bar_a) (objectAtLocation Pillow_bar_a loc_bar_1)
            (pickupable Pillow_bar_a)
        (objectType Pillow_bar_b PillowType) (inReceptacle Pillow_bar_b Bed_bar_a) (objectAtLocation Pillow_bar_b loc_bar_1)
            (pickupable Pillow_bar_b)
        (objectType Laptop_bar_a LaptopType) (inReceptacle Laptop_bar_a Bed_bar_a) (objectAtLocation Laptop_bar_a loc_bar_1)
            (pickupable Laptop_bar_a)
        (objectType Pencil_bar_a PencilType) (inReceptacle Pencil_bar_a Desk_bar_a) (objectAtLocation Pencil_bar_a loc_bar_2)
            (pickupable Pencil_bar_a)
        (objectType Mug_bar_a MugType) (inReceptacle Mug_bar_a Desk_bar_a) (objectAtLocation Mug_bar_a loc_bar_2)
            (pickupable Mug_bar_a) (cleanable Mug_bar_a) (heatable Mug_bar_a) (coolable Mug_bar_a)
        (objectType CellPhone_bar_a CellPhoneType) (inReceptacle CellPhone_bar_a Desk_bar_a) (objectAtLocation CellPhone_bar_a loc_bar_2)
            (pickupable CellPhone_bar_a)
        (objectType Statue_bar_a StatueType) (inReceptacle Statue_bar_a Dresser_bar_a) (objectAtLocation Statue_bar_a loc_bar_3)
            (pickupable Statue_bar_a)
        (objectType CD_bar_a CDType) (inReceptacle CD_bar_a Dresser_bar_a) (objectAtLocation CD_bar_a loc_bar_3)
            (pickupable CD_bar_a)
        (objectType AlarmClock_bar_a AlarmClockType) (inReceptacle AlarmClock_bar_a Shelf_bar_a) (objectAtLocation AlarmClock_bar_a loc_bar_4)
            (pickupable AlarmClock_bar_a)
        (objectType Bowl_bar_a BowlType) (inReceptacle Bowl_bar_a Shelf_bar_b) (objectAtLocation Bowl_bar_a loc_bar_5)
            (pickupable Bowl_bar_a) (cleanable Bowl_bar_a) (coolable Bowl_bar_a)
        (objectType CD_bar_b CDType) (inReceptacle CD_bar_b Shelf_bar_b) (objectAtLocation CD_bar_b loc_bar_5)
            (pickupable CD_bar_b)
        (objectType DeskLamp_bar_a DeskLampType) (inReceptacle DeskLamp_bar_a SideTable_bar_a) (objectAtLocation DeskLamp_bar_a loc_bar_6)
            (toggleable DeskLamp_bar_a)
        (objectType KeyChain_bar_a KeyChainType) (inReceptacle KeyChain_bar_a SideTable_bar_a) (objectAtLocation KeyChain_bar_a loc_bar_6)
            (pickupable KeyChain_bar_a)
        (objectType Pen_bar_a PenType) (inReceptacle Pen_bar_a Drawer_bar_a) (objectAtLocation Pen_bar_a loc_bar_7)
            (pickupable Pen_bar_a)
        (objectType Book_bar_a BookType) (inReceptacle Book_bar_a Drawer_bar_c) (objectAtLocation Book_bar_a loc_bar_9)
            (pickupable Book_bar_a)
        (objectType CreditCard_bar_a CreditCardType) (inReceptacle CreditCard_bar_a Drawer_bar_c) (objectAtLocation CreditCard_bar_a loc_bar_9)
            (pickupable CreditCard_bar_a)
        (objectType Watch_bar_a WatchType) (inReceptacle Watch_bar_a Safe_bar_a) (objectAtLocation Watch_bar_a loc_bar_10)
            (pickupable Watch_bar_a)
        (objectType CD_bar_c CDType) (inReceptacle CD_bar_c GarbageCan_bar_a) (objectAtLocation CD_bar_c loc_bar_11)
            (pickupable CD_bar_c)
    )
    (:goal
        (and
            (exists (?lamp - object ?r - receptacle ?a - agent ?l - location)
                (and
                    (objectType ?lamp DeskLampType)
                    (toggleable ?lamp)
                    (isToggled ?lamp)
                    (inReceptacle ?lamp ?r)
                    (receptacleAtLocation ?r ?l)
                    (atLocation ?a ?l)
                )
            )
            (exists (?o - object ?a - agent)
                (and
                    (objectType ?o BookType)
                    (holds ?a ?o)
                )
            )
        )
    )
)
