;; A small kitchen; the tomato is in the closed microwave.
;; The goal: put a cool tomato in countertop.
(define (problem cool-tomato)
    (:domain alfred)
    (:objects
        agent1 - agent
        AppleType - otype
        BowlType - otype
        BreadType - otype
        ButterKnifeType - otype
        CupType - otype
        LettuceType - otype
        PepperShakerType - otype
        PlateType - otype
        PotType - otype
        SpatulaType - otype
        TomatoType - otype
        WineBottleType - otype
        CabinetType - rtype
        CounterTopType - rtype
        DrawerType - rtype
        FridgeType - rtype
        GarbageCanType - rtype
        MicrowaveType - rtype
        ShelfType - rtype
        SideTableType - rtype
        SinkBasinType - rtype
        StoveBurnerType - rtype
        Apple_bar_a - object
        Apple_bar_b - object
        Bowl_bar_a - object
        Bread_bar_a - object
        ButterKnife_bar_a - object
        Cup_bar_a - object
        Cup_bar_b - object
        Lettuce_bar_a - object
        PepperShaker_bar_a - object
        Plate_bar_a - object
        Pot_bar_a - object
        Spatula_bar_a - object
        Tomato_bar_a - object
        WineBottle_bar_a - object
        Fridge_bar_a - receptacle
        Microwave_bar_a - receptacle
        CounterTop_bar_a - receptacle
        SideTable_bar_a - receptacle
        Sink_bar_a_bar_SinkBasin - receptacle
        StoveBurner_bar_a - receptacle
        StoveBurner_bar_b - receptacle
        Cabinet_bar_a - receptacle
        Cabinet_bar_b - receptacle
        Drawer_bar_a - receptacle
        Shelf_bar_a - receptacle
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
        loc_bar_12 - location
    )
    (:init
        (atLocation agent1 loc_bar_0)

        (receptacleType Fridge_bar_a FridgeType) (receptacleAtLocation Fridge_bar_a loc_bar_1) (openable Fridge_bar_a)
        (receptacleType Microwave_bar_a MicrowaveType) (receptacleAtLocation Microwave_bar_a loc_bar_2) (openable Microwave_bar_a)
        (receptacleType CounterTop_bar_a CounterTopType) (receptacleAtLocation CounterTop_bar_a loc_bar_3)
        (receptacleType SideTable_bar_a SideTableType) (receptacleAtLocation SideTable_bar_a loc_bar_4)
        (receptacleType Sink_bar_a_bar_SinkBasin SinkBasinType) (receptacleAtLocation Sink_bar_a_bar_SinkBasin loc_bar_5)
        (receptacleType StoveBurner_bar_a StoveBurnerType) (receptacleAtLocation StoveBurner_bar_a loc_bar_6)
        (receptacleType StoveBurner_bar_b StoveBurnerType) (receptacleAtLocation StoveBurner_bar_b loc_bar_7)
        (receptacleType Cabinet_bar_a CabinetType) (receptacleAtLocation Cabinet_bar_a loc_bar_8) (openable Cabinet_bar_a)
        (receptacleType Cabinet_bar_b CabinetType) (receptacleAtLocation Cabinet_bar_b loc_bar_9) (openable Cabinet_bar_b)
        (receptacleType Drawer_bar_a DrawerType) (receptacleAtLocation Drawer_bar_a loc_bar_10) (openable Drawer_bar_a)
        (receptacleType Shelf_bar_a ShelfType) (receptacleAtLocation Shelf_bar_a loc_bar_11)
        (receptacleType GarbageCan_bar_a GarbageCanType) (receptacleAtLocation GarbageCan_bar_a loc_bar_12)

        (canContain CabinetType BowlType)
        (canContain CabinetType CupType)
        (canContain CabinetType PlateType)
        (canContain CabinetType PotType)
        (canContain CabinetType WineBottleType)
        (canContain CabinetType PepperShakerType)
        (canContain CounterTopType PlateType)
        (canContain CounterTopType AppleType)
        (canContain CounterTopType TomatoType)
        (canContain CounterTopType LettuceType)
        (canContain CounterTopType BreadType)
        (canContain CounterTopType CupType)
        (canContain CounterTopType BowlType)
        (canContain CounterTopType PotType)
        (canContain CounterTopType ButterKnifeType)
        (canContain CounterTopType SpatulaType)
        (canContain CounterTopType WineBottleType)
        (canContain CounterTopType PepperShakerType)
        (canContain DrawerType SpatulaType)
        (canContain DrawerType ButterKnifeType)
        (canContain DrawerType PepperShakerType)
        (canContain FridgeType AppleType)
        (canContain FridgeType WineBottleType)
        (canContain FridgeType TomatoType)
        (canContain FridgeType LettuceType)
        (canContain FridgeType BreadType)
        (canContain FridgeType PlateType)
        (canContain FridgeType BowlType)
        (canContain FridgeType CupType)
        (canContain FridgeType PotType)
        (canContain GarbageCanType LettuceType)
        (canContain GarbageCanType AppleType)
        (canContain GarbageCanType TomatoType)
        (canContain GarbageCanType BreadType)
        (canContain GarbageCanType WineBottleType)
        (canContain MicrowaveType TomatoType)
        (canContain MicrowaveType AppleType)
        (canContain MicrowaveType BreadType)
        (canContain MicrowaveType PlateType)
        (canContain MicrowaveType CupType)
        (canContain MicrowaveType BowlType)
        (canContain ShelfType PepperShakerType)
        (canContain ShelfType BowlType)
        (canContain ShelfType CupType)
        (canContain ShelfType PlateType)
        (canContain SideTableType BreadType)
        (canContain SideTableType ButterKnifeType)
        (canContain SideTableType AppleType)
        (canContain SideTableType TomatoType)
        (canContain SideTableType LettuceType)
        (canContain SideTableType PlateType)
        (canContain SideTableType CupType)
        (canContain SideTableType BowlType)
        (canContain SideTableType PotType)
        (canContain SideTableType WineBottleType)
        (canContain SinkBasinType CupType)
        (canContain SinkBasinType PlateType)
        (canContain SinkBasinType BowlType)
        (canContain SinkBasinType PotType)
        (canContain SinkBasinType ButterKnifeType)
        (canContain SinkBasinType SpatulaType)
        (canContain SinkBasinType AppleType)
        (canContain SinkBasinType TomatoType)
        (canContain SinkBasinType LettuceType)
        (canContain StoveBurnerType PotType)

        (objectType Apple_bar_a AppleType) (inReceptacle Apple_bar_a Fridge_bar_a) (objectAtLocation Apple_bar_a loc_bar_1)
            (pickupable Apple_bar_a) (cleanable Apple_bar_a) (heatable Apple_bar_a) (coolable Apple_bar_a) (sliceable Apple_bar_a)
        (objectType WineBottle_bar_a WineBottleType) (inReceptacle WineBottle_bar_a Fridge_bar_a) (objectAtLocation WineBottle_bar_a loc_bar_1)
            (pickupable WineBottle_bar_a) (coolable WineBottle_bar_a)
        (objectType Tomato_bar_a TomatoType) (inReceptacle Tomato_bar_a Microwave_bar_a) (objectAtLocation Tomato_bar_a loc_bar_2)
            (pickupable Tomato_bar_a) (cleanable Tomato_bar_a) (heatable Tomato_bar_a) (coolable Tomato_bar_a) (sliceable Tomato_bar_a)
        (objectType Plate_bar_a PlateType) (inReceptacle Plate_bar_a CounterTop_bar_a) (objectAtLocation Plate_bar_a loc_bar_3)
            (pickupable Plate_bar_a) (cleanable Plate_bar_a) (heatable Plate_bar_a) (coolable Plate_bar_a)
        (objectType Apple_bar_b AppleType) (inReceptacle Apple_bar_b CounterTop_bar_a) (objectAtLocation Apple_bar_b loc_bar_3)
            (pickupable Apple_bar_b) (cleanable Apple_bar_b) (heatable Apple_bar_b) (coolable Apple_bar_b) (sliceable Apple_bar_b)
        (objectType Bread_bar_a BreadType) (inReceptacle Bread_bar_a SideTable_bar_a) (objectAtLocation Bread_bar_a loc_bar_4)
            (pickupable Bread_bar_a) (heatable Bread_bar_a) (coolable Bread_bar_a) (sliceable Bread_bar_a)
        (objectType ButterKnife_bar_a ButterKnifeType) (inReceptacle ButterKnife_bar_a SideTable_bar_a) (objectAtLocation ButterKnife_bar_a loc_bar_4)
            (pickupable ButterKnife_bar_a) (cleanable ButterKnife_bar_a)
        (objectType Cup_bar_a CupType) (inReceptacle Cup_bar_a Sink_bar_a_bar_SinkBasin) (objectAtLocation Cup_bar_a loc_bar_5)
            (pickupable Cup_bar_a) (cleanable Cup_bar_a) (heatable Cup_bar_a) (coolable Cup_bar_a)
        (objectType Pot_bar_a PotType) (inReceptacle Pot_bar_a StoveBurner_bar_a) (objectAtLocation Pot_bar_a loc_bar_6)
            (pickupable Pot_bar_a) (cleanable Pot_bar_a) (coolable Pot_bar_a)
        (objectType Bowl_bar_a BowlType) (inReceptacle Bowl_bar_a Cabinet_bar_b) (objectAtLocation Bowl_bar_a loc_bar_9)
            (pickupable Bowl_bar_a) (cleanable Bowl_bar_a) (coolable Bowl_bar_a)
        (objectType Cup_bar_b CupType) (inReceptacle Cup_bar_b Cabinet_bar_b) (objectAtLocation Cup_bar_b loc_bar_9)
            (pickupable Cup_bar_b) (cleanable Cup_bar_b) (heatable Cup_bar_b) (coolable Cup_bar_b)
        (objectType Spatula_bar_a SpatulaType) (inReceptacle Spatula_bar_a Drawer_bar_a) (objectAtLocation Spatula_bar_a loc_bar_10)
            (pickupable Spatula_bar_a) (cleanable Spatula_bar_a)
        (objectType PepperShaker_bar_a PepperShakerType) (inReceptacle PepperShaker_bar_a Shelf_bar_a) (objectAtLocation PepperShaker_bar_a loc_bar_11)
            (pickupable PepperShaker_bar_a)
        (objectType Lettuce_bar_a LettuceType) (inReceptacle Lettuce_bar_a GarbageCan_bar_a) (objectAtLocation Lettuce_bar_a loc_bar_12)
            (pickupable Lettuce_bar_a) (cleanable Lettuce_bar_a) (coolable Lettuce_bar_a) (sliceable Lettuce_bar_a)
    )
    (:goal
        (and
            (exists (?r - receptacle)
                (exists (?o - object)
                    (and
                        (coolable ?o)
                        (isCool ?o)
                        (objectType ?o TomatoType)
                        (receptacleType ?r CounterTopType)
                        (inReceptacle ?o ?r)
                    )
                )
            )
        )
    )
)
