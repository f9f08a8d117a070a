;; A living room; the keys are in a closed drawer.
;; The goal: put some keychain on sofa.
(define (problem place-keychain)
    (:domain alfred)
    (:objects
        agent1 - agent
        BookType - otype
        BoxType - otype
        CandleType - otype
        CreditCardType - otype
        KeyChainType - otype
        LaptopType - otype
        NewspaperType - otype
        PenType - otype
        PillowType - otype
        RemoteControlType - otype
        StatueType - otype
        VaseType - otype
        WatchType - otype
        ArmChairType - rtype
        CabinetType - rtype
        CoffeeTableType - rtype
        DrawerType - rtype
        GarbageCanType - rtype
        SideTableType - rtype
        SofaType - rtype
        TVStandType - rtype
        Book_bar_a - object
        Box_bar_a - object
        Candle_bar_a - object
        CreditCard_bar_a - object
        CreditCard_bar_b - object
        KeyChain_bar_a - object
        Laptop_bar_a - object
        Newspaper_bar_a - object
        Newspaper_bar_b - object
        Pen_bar_a - object
        Pillow_bar_a - object
        RemoteControl_bar_a - object
        RemoteControl_bar_b - object
        Statue_bar_a - object
        Vase_bar_a - object
        Watch_bar_a - object
        Sofa_bar_a - receptacle
        ArmChair_bar_a - receptacle
        CoffeeTable_bar_a - receptacle
        SideTable_bar_a - receptacle
        SideTable_bar_b - receptacle
        TVStand_bar_a - receptacle
        Drawer_bar_a - receptacle
        Drawer_bar_b - receptacle
        Drawer_bar_c - receptacle
        Cabinet_bar_a - receptacle
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

        (receptacleType Sofa_bar_a SofaType) (receptacleAtLocation Sofa_bar_a loc_bar_1)
        (receptacleType ArmChair_bar_a ArmChairType) (receptacleAtLocation ArmChair_bar_a loc_bar_2)
        (receptacleType CoffeeTable_bar_a CoffeeTableType) (receptacleAtLocation CoffeeTable_bar_a loc_bar_3)
        (receptacleType SideTable_bar_a SideTableType) (receptacleAtLocation SideTable_bar_a loc_bar_4)
        (receptacleType SideTable_bar_b SideTableType) (receptacleAtLocation SideTable_bar_b loc_bar_5)
        (receptacleType TVStand_bar_a TVStandType) (receptacleAtLocation TVStand_bar_a loc_bar_6)
        (receptacleType Drawer_bar_a DrawerType) (receptacleAtLocation Drawer_bar_a loc_bar_7) (openable Drawer_bar_a)
        (receptacleType Drawer_bar_b DrawerType) (receptacleAtLocation Drawer_bar_b loc_bar_8) (openable Drawer_bar_b)
        (receptacleType Drawer_bar_c DrawerType) (receptacleAtLocation Drawer_bar_c loc_bar_9) (openable Drawer_bar_c)
        (receptacleType Cabinet_bar_a CabinetType) (receptacleAtLocation Cabinet_bar_a loc_bar_10) (openable Cabinet_bar_a)
        (receptacleType GarbageCan_bar_a GarbageCanType) (receptacleAtLocation GarbageCan_bar_a loc_bar_11)

        (canContain ArmChairType PillowType)
        (canContain ArmChairType NewspaperType)
        (canContain ArmChairType BoxType)
        (canContain ArmChairType LaptopType)
        (canContain ArmChairType RemoteControlType)
        (canContain ArmChairType KeyChainType)
        (canContain ArmChairType BookType)
        (canContain CabinetType CandleType)
        (canContain CabinetType VaseType)
        (canContain CabinetType BookType)
        (canContain CabinetType BoxType)
        (canContain CoffeeTableType RemoteControlType)
        (canContain CoffeeTableType LaptopType)
        (canContain CoffeeTableType WatchType)
        (canContain CoffeeTableType VaseType)
        (canContain CoffeeTableType BookType)
        (canContain CoffeeTableType CreditCardType)
        (canContain CoffeeTableType KeyChainType)
        (canContain CoffeeTableType BoxType)
        (canContain CoffeeTableType StatueType)
        (canContain CoffeeTableType CandleType)
        (canContain CoffeeTableType NewspaperType)
        (canContain CoffeeTableType PenType)
        (canContain DrawerType KeyChainType)
        (canContain DrawerType CreditCardType)
        (canContain DrawerType WatchType)
        (canContain DrawerType PenType)
        (canContain DrawerType RemoteControlType)
        (canContain DrawerType CandleType)
        (canContain DrawerType BookType)
        (canContain DrawerType NewspaperType)
        (canContain GarbageCanType NewspaperType)
        (canContain GarbageCanType PenType)
        (canContain GarbageCanType CandleType)
        (canContain SideTableType RemoteControlType)
        (canContain SideTableType WatchType)
        (canContain SideTableType VaseType)
        (canContain SideTableType BookType)
        (canContain SideTableType CreditCardType)
        (canContain SideTableType KeyChainType)
        (canContain SideTableType CandleType)
        (canContain SideTableType StatueType)
        (canContain SideTableType NewspaperType)
        (canContain SideTableType PenType)
        (canContain SofaType PillowType)
        (canContain SofaType NewspaperType)
        (canContain SofaType LaptopType)
        (canContain SofaType KeyChainType)
        (canContain SofaType BoxType)
        (canContain SofaType RemoteControlType)
        (canContain SofaType BookType)
        (canContain SofaType CreditCardType)
        (canContain TVStandType RemoteControlType)
        (canContain TVStandType StatueType)
        (canContain TVStandType VaseType)
        (canContain TVStandType WatchType)
        (canContain TVStandType KeyChainType)
        (canContain TVStandType CreditCardType)
        (canContain TVStandType CandleType)
        (canContain TVStandType BookType)

        (objectType Pillow_bar_a PillowType) (inReceptacle Pillow_bar_a Sofa_bar_a) (objectAtLocation Pillow_bar_a loc_bar_1)
            (pickupable Pillow_bar_a)
        (objectType Newspaper_bar_a NewspaperType) (inReceptacle Newspaper_bar_a Sofa_bar_a) (objectAtLocation Newspaper_bar_a loc_bar_1)
            (pickupable Newspaper_bar_a)
        (objectType Box_bar_a BoxType) (inReceptacle Box_bar_a ArmChair_bar_a) (objectAtLocation Box_bar_a loc_bar_2)
            (pickupable Box_bar_a)
        (objectType RemoteControl_bar_a RemoteControlType) (inReceptacle RemoteControl_bar_a CoffeeTable_bar_a) (objectAtLocation RemoteControl_bar_a loc_bar_3)
            (pickupable RemoteControl_bar_a)
        (objectType Laptop_bar_a LaptopType) (inReceptacle Laptop_bar_a CoffeeTable_bar_a) (objectAtLocation Laptop_bar_a loc_bar_3)
            (pickupable Laptop_bar_a)
        (objectType Watch_bar_a WatchType) (inReceptacle Watch_bar_a SideTable_bar_a) (objectAtLocation Watch_bar_a loc_bar_4)
            (pickupable Watch_bar_a)
        (objectType Vase_bar_a VaseType) (inReceptacle Vase_bar_a SideTable_bar_a) (objectAtLocation Vase_bar_a loc_bar_4)
            (pickupable Vase_bar_a)
        (objectType Book_bar_a BookType) (inReceptacle Book_bar_a SideTable_bar_b) (objectAtLocation Book_bar_a loc_bar_5)
            (pickupable Book_bar_a)
        (objectType CreditCard_bar_a CreditCardType) (inReceptacle CreditCard_bar_a SideTable_bar_b) (objectAtLocation CreditCard_bar_a loc_bar_5)
            (pickupable CreditCard_bar_a)
        (objectType RemoteControl_bar_b RemoteControlType) (inReceptacle RemoteControl_bar_b TVStand_bar_a) (objectAtLocation RemoteControl_bar_b loc_bar_6)
            (pickupable RemoteControl_bar_b)
        (objectType Statue_bar_a StatueType) (inReceptacle Statue_bar_a TVStand_bar_a) (objectAtLocation Statue_bar_a loc_bar_6)
            (pickupable Statue_bar_a)
        (objectType CreditCard_bar_b CreditCardType) (inReceptacle CreditCard_bar_b Drawer_bar_a) (objectAtLocation CreditCard_bar_b loc_bar_7)
            (pickupable CreditCard_bar_b)
        (objectType KeyChain_bar_a KeyChainType) (inReceptacle KeyChain_bar_a Drawer_bar_b) (objectAtLocation KeyChain_bar_a loc_bar_8)
            (pickupable KeyChain_bar_a)
        (objectType Pen_bar_a PenType) (inReceptacle Pen_bar_a Drawer_bar_b) (objectAtLocation Pen_bar_a loc_bar_8)
            (pickupable Pen_bar_a)
        (objectType Candle_bar_a CandleType) (inReceptacle Candle_bar_a Cabinet_bar_a) (objectAtLocation Candle_bar_a loc_bar_10)
            (pickupable Candle_bar_a)
        (objectType Newspaper_bar_b NewspaperType) (inReceptacle Newspaper_bar_b GarbageCan_bar_a) (objectAtLocation Newspaper_bar_b loc_bar_11)
            (pickupable Newspaper_bar_b)
    )
    (:goal
        (and
            (exists (?r - receptacle)
                (exists (?o - object)
                    (and
                        (objectType ?o KeyChainType)
                        (receptacleType ?r SofaType)
                        (inReceptacle ?o ?r)
                    )
                )
            )
        )
    )
)
