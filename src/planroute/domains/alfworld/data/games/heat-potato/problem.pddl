;; A kitchen; the potato is in the closed fridge.
;; The goal: heat some potato and put it in diningtable.
(define (problem heat-potato)
    (:domain alfred)
    (:objects
        agent1 - agent
        BowlType - otype
        BreadType - otype
        EggType - otype
        ForkType - otype
        KnifeType - otype
        LettuceType - otype
        MugType - otype
        PanType - otype
        PlateType - otype
        PotatoType - otype
        SaltShakerType - otype
        SpoonType - otype
        TomatoType - otype
        CabinetType - rtype
        CounterTopType - rtype
        DiningTableType - rtype
        DrawerType - rtype
        FridgeType - rtype
        GarbageCanType - rtype
        MicrowaveType - rtype
        SinkBasinType - rtype
        StoveBurnerType - rtype
        Bowl_bar_a - object
        Bread_bar_a - object
        Egg_bar_a - object
        Egg_bar_b - object
        Fork_bar_a - object
        Fork_bar_b - object
        Knife_bar_a - object
        Lettuce_bar_a - object
        Mug_bar_a - object
        Mug_bar_b - object
        Pan_bar_a - object
        Plate_bar_a - object
        Potato_bar_a - object
        SaltShaker_bar_a - object
        Spoon_bar_a - object
        Spoon_bar_b - object
        Tomato_bar_a - object
        Fridge_bar_a - receptacle
        Microwave_bar_a - receptacle
        CounterTop_bar_a - receptacle
        CounterTop_bar_b - receptacle
        DiningTable_bar_a - receptacle
        Sink_bar_a_bar_SinkBasin - receptacle
        StoveBurner_bar_a - receptacle
        Cabinet_bar_a - receptacle
        Cabinet_bar_b - receptacle
        Drawer_bar_a - receptacle
        Drawer_bar_b - receptacle
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
        (receptacleType CounterTop_bar_b CounterTopType) (receptacleAtLocation CounterTop_bar_b loc_bar_4)
        (receptacleType DiningTable_bar_a DiningTableType) (receptacleAtLocation DiningTable_bar_a loc_bar_5)
        (receptacleType Sink_bar_a_bar_SinkBasin SinkBasinType) (receptacleAtLocation Sink_bar_a_bar_SinkBasin loc_bar_6)
        (receptacleType StoveBurner_bar_a StoveBurnerType) (receptacleAtLocation StoveBurner_bar_a loc_bar_7)
        (receptacleType Cabinet_bar_a CabinetType) (receptacleAtLocation Cabinet_bar_a loc_bar_8) (openable Cabinet_bar_a)
        (receptacleType Cabinet_bar_b CabinetType) (receptacleAtLocation Cabinet_bar_b loc_bar_9) (openable Cabinet_bar_b)
        (receptacleType Drawer_bar_a DrawerType) (receptacleAtLocation Drawer_bar_a loc_bar_10) (openable Drawer_bar_a)
        (receptacleType Drawer_bar_b DrawerType) (receptacleAtLocation Drawer_bar_b loc_bar_11) (openable Drawer_bar_b)
        (receptacleType GarbageCan_bar_a GarbageCanType) (receptacleAtLocation GarbageCan_bar_a loc_bar_12)

        (canContain CabinetType MugType)
        (canContain CabinetType BowlType)
        (canContain CabinetType PlateType)
        (canContain CabinetType SaltShakerType)
        (canContain CabinetType PanType)
        (canContain CounterTopType BreadType)
        (canContain CounterTopType KnifeType)
        (canContain CounterTopType TomatoType)
        (canContain CounterTopType SaltShakerType)
        (canContain CounterTopType PotatoType)
        (canContain CounterTopType LettuceType)
        (canContain CounterTopType EggType)
        (canContain CounterTopType MugType)
        (canContain CounterTopType BowlType)
        (canContain CounterTopType PlateType)
        (canContain CounterTopType ForkType)
        (canContain CounterTopType SpoonType)
        (canContain CounterTopType PanType)
        (canContain DiningTableType PlateType)
        (canContain DiningTableType ForkType)
        (canContain DiningTableType SpoonType)
        (canContain DiningTableType KnifeType)
        (canContain DiningTableType PotatoType)
        (canContain DiningTableType TomatoType)
        (canContain DiningTableType LettuceType)
        (canContain DiningTableType BreadType)
        (canContain DiningTableType EggType)
        (canContain DiningTableType MugType)
        (canContain DiningTableType BowlType)
        (canContain DiningTableType SaltShakerType)
        (canContain DiningTableType PanType)
        (canContain DrawerType ForkType)
        (canContain DrawerType SpoonType)
        (canContain DrawerType KnifeType)
        (canContain DrawerType SaltShakerType)
        (canContain FridgeType PotatoType)
        (canContain FridgeType LettuceType)
        (canContain FridgeType EggType)
        (canContain FridgeType TomatoType)
        (canContain FridgeType BreadType)
        (canContain FridgeType MugType)
        (canContain FridgeType BowlType)
        (canContain FridgeType PlateType)
        (canContain FridgeType PanType)
        (canContain GarbageCanType EggType)
        (canContain GarbageCanType PotatoType)
        (canContain GarbageCanType TomatoType)
        (canContain GarbageCanType LettuceType)
        (canContain GarbageCanType BreadType)
        (canContain MicrowaveType MugType)
        (canContain MicrowaveType PotatoType)
        (canContain MicrowaveType EggType)
        (canContain MicrowaveType TomatoType)
        (canContain MicrowaveType BreadType)
        (canContain MicrowaveType PlateType)
        (canContain MicrowaveType BowlType)
        (canContain SinkBasinType SpoonType)
        (canContain SinkBasinType ForkType)
        (canContain SinkBasinType KnifeType)
        (canContain SinkBasinType MugType)
        (canContain SinkBasinType BowlType)
        (canContain SinkBasinType PlateType)
        (canContain SinkBasinType PanType)
        (canContain SinkBasinType PotatoType)
        (canContain SinkBasinType TomatoType)
        (canContain SinkBasinType LettuceType)
        (canContain SinkBasinType EggType)
        (canContain StoveBurnerType PanType)

        (objectType Potato_bar_a PotatoType) (inReceptacle Potato_bar_a Fridge_bar_a) (objectAtLocation Potato_bar_a loc_bar_1)
            (pickupable Potato_bar_a) (cleanable Potato_bar_a) (heatable Potato_bar_a) (coolable Potato_bar_a) (sliceable Potato_bar_a)
        (objectType Lettuce_bar_a LettuceType) (inReceptacle Lettuce_bar_a Fridge_bar_a) (objectAtLocation Lettuce_bar_a loc_bar_1)
            (pickupable Lettuce_bar_a) (cleanable Lettuce_bar_a) (coolable Lettuce_bar_a) (sliceable Lettuce_bar_a)
        (objectType Egg_bar_a EggType) (inReceptacle Egg_bar_a Fridge_bar_a) (objectAtLocation Egg_bar_a loc_bar_1)
            (pickupable Egg_bar_a) (cleanable Egg_bar_a) (heatable Egg_bar_a) (coolable Egg_bar_a)
        (objectType Mug_bar_a MugType) (inReceptacle Mug_bar_a Microwave_bar_a) (objectAtLocation Mug_bar_a loc_bar_2)
            (pickupable Mug_bar_a) (cleanable Mug_bar_a) (heatable Mug_bar_a) (coolable Mug_bar_a)
        (objectType Bread_bar_a BreadType) (inReceptacle Bread_bar_a CounterTop_bar_a) (objectAtLocation Bread_bar_a loc_bar_3)
            (pickupable Bread_bar_a) (heatable Bread_bar_a) (coolable Bread_bar_a) (sliceable Bread_bar_a)
        (objectType Knife_bar_a KnifeType) (inReceptacle Knife_bar_a CounterTop_bar_a) (objectAtLocation Knife_bar_a loc_bar_3)
            (pickupable Knife_bar_a) (cleanable Knife_bar_a)
        (objectType Tomato_bar_a TomatoType) (inReceptacle Tomato_bar_a CounterTop_bar_b) (objectAtLocation Tomato_bar_a loc_bar_4)
            (pickupable Tomato_bar_a) (cleanable Tomato_bar_a) (heatable Tomato_bar_a) (coolable Tomato_bar_a) (sliceable Tomato_bar_a)
        (objectType SaltShaker_bar_a SaltShakerType) (inReceptacle SaltShaker_bar_a CounterTop_bar_b) (objectAtLocation SaltShaker_bar_a loc_bar_4)
            (pickupable SaltShaker_bar_a)
        (objectType Plate_bar_a PlateType) (inReceptacle Plate_bar_a DiningTable_bar_a) (objectAtLocation Plate_bar_a loc_bar_5)
            (pickupable Plate_bar_a) (cleanable Plate_bar_a) (heatable Plate_bar_a) (coolable Plate_bar_a)
        (objectType Fork_bar_a ForkType) (inReceptacle Fork_bar_a DiningTable_bar_a) (objectAtLocation Fork_bar_a loc_bar_5)
            (pickupable Fork_bar_a) (cleanable Fork_bar_a)
        (objectType Spoon_bar_a SpoonType) (inReceptacle Spoon_bar_a Sink_bar_a_bar_SinkBasin) (objectAtLocation Spoon_bar_a loc_bar_6)
            (pickupable Spoon_bar_a) (cleanable Spoon_bar_a)
        (objectType Pan_bar_a PanType) (inReceptacle Pan_bar_a StoveBurner_bar_a) (objectAtLocation Pan_bar_a loc_bar_7)
            (pickupable Pan_bar_a) (cleanable Pan_bar_a) (coolable Pan_bar_a)
        (objectType Mug_bar_b MugType) (inReceptacle Mug_bar_b Cabinet_bar_a) (objectAtLocation Mug_bar_b loc_bar_8)
            (pickupable Mug_bar_b) (cleanable Mug_bar_b) (heatable Mug_bar_b) (coolable Mug_bar_b)
        (objectType Bowl_bar_a BowlType) (inReceptacle Bowl_bar_a Cabinet_bar_b) (objectAtLocation Bowl_bar_a loc_bar_9)
            (pickupable Bowl_bar_a) (cleanable Bowl_bar_a) (coolable Bowl_bar_a)
        (objectType Fork_bar_b ForkType) (inReceptacle Fork_bar_b Drawer_bar_a) (objectAtLocation Fork_bar_b loc_bar_10)
            (pickupable Fork_bar_b) (cleanable Fork_bar_b)
        (objectType Spoon_bar_b SpoonType) (inReceptacle Spoon_bar_b Drawer_bar_a) (objectAtLocation Spoon_bar_b loc_bar_10)
            (pickupable Spoon_bar_b) (cleanable Spoon_bar_b)
        (objectType Egg_bar_b EggType) (inReceptacle Egg_bar_b GarbageCan_bar_a) (objectAtLocation Egg_bar_b loc_bar_12)
            (pickupable Egg_bar_b) (cleanable Egg_bar_b) (heatable Egg_bar_b) (coolable Egg_bar_b)
    )
    (:goal
        (and
            (exists (?r - receptacle)
                (exists (?o - object)
                    (and
                        (heatable ?o)
                        (isHot ?o)
                        (objectType ?o PotatoType)
                        (receptacleType ?r DiningTableType)
                        (inReceptacle ?o ?r)
                    )
                )
            )
        )
    )
)
