;; A bathroom; the cloth is in a closed cabinet, the drawers are closed too.
;; The goal: put a clean cloth in drawer.
(define (problem clean-cloth)
    (:domain alfred)
    (:objects
        agent1 - agent
        CandleType - otype
        ClothType - otype
        SoapBarType - otype
        SoapBottleType - otype
        SprayBottleType - otype
        TissueBoxType - otype
        ToiletPaperType - otype
        CabinetType - rtype
        CartType - rtype
        CounterTopType - rtype
        DrawerType - rtype
        GarbageCanType - rtype
        ShelfType - rtype
        SinkBasinType - rtype
        ToiletType - rtype
        Candle_bar_a - object
        Cloth_bar_a - object
        SoapBar_bar_a - object
        SoapBar_bar_b - object
        SoapBottle_bar_a - object
        SoapBottle_bar_b - object
        SprayBottle_bar_a - object
        SprayBottle_bar_b - object
        TissueBox_bar_a - object
        ToiletPaper_bar_a - object
        ToiletPaper_bar_b - object
        Sink_bar_a_bar_SinkBasin - receptacle
        CounterTop_bar_a - receptacle
        Toilet_bar_a - receptacle
        Cabinet_bar_a - receptacle
        Cabinet_bar_b - receptacle
        Cabinet_bar_c - receptacle
        Drawer_bar_a - receptacle
        Drawer_bar_b - receptacle
        Shelf_bar_a - receptacle
        Cart_bar_a - receptacle
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

        (receptacleType Sink_bar_a_bar_SinkBasin SinkBasinType) (receptacleAtLocation Sink_bar_a_bar_SinkBasin loc_bar_1)
        (receptacleType CounterTop_bar_a CounterTopType) (receptacleAtLocation CounterTop_bar_a loc_bar_2)
        (receptacleType Toilet_bar_a ToiletType) (receptacleAtLocation Toilet_bar_a loc_bar_3)
        (receptacleType Cabinet_bar_a CabinetType) (receptacleAtLocation Cabinet_bar_a loc_bar_4) (openable Cabinet_bar_a)
        (receptacleType Cabinet_bar_b CabinetType) (receptacleAtLocation Cabinet_bar_b loc_bar_5) (openable Cabinet_bar_b)
        (receptacleType Cabinet_bar_c CabinetType) (receptacleAtLocation Cabinet_bar_c loc_bar_6) (openable Cabinet_bar_c)
        (receptacleType Drawer_bar_a DrawerType) (receptacleAtLocation Drawer_bar_a loc_bar_7) (openable Drawer_bar_a)
        (receptacleType Drawer_bar_b DrawerType) (receptacleAtLocation Drawer_bar_b loc_bar_8) (openable Drawer_bar_b)
        (receptacleType Shelf_bar_a ShelfType) (receptacleAtLocation Shelf_bar_a loc_bar_9)
        (receptacleType Cart_bar_a CartType) (receptacleAtLocation Cart_bar_a loc_bar_10)
        (receptacleType GarbageCan_bar_a GarbageCanType) (receptacleAtLocation GarbageCan_bar_a loc_bar_11)

        (canContain CabinetType SprayBottleType)
        (canContain CabinetType ClothType)
        (canContain CabinetType ToiletPaperType)
        (canContain CabinetType SoapBottleType)
        (canContain CabinetType CandleType)
        (canContain CabinetType SoapBarType)
        (canContain CartType SoapBottleType)
        (canContain CartType CandleType)
        (canContain CartType ClothType)
        (canContain CartType ToiletPaperType)
        (canContain CartType SprayBottleType)
        (canContain CartType SoapBarType)
        (canContain CounterTopType SoapBottleType)
        (canContain CounterTopType CandleType)
        (canContain CounterTopType SoapBarType)
        (canContain CounterTopType ClothType)
        (canContain CounterTopType SprayBottleType)
        (canContain CounterTopType ToiletPaperType)
        (canContain CounterTopType TissueBoxType)
        (canContain DrawerType SoapBarType)
        (canContain DrawerType ClothType)
        (canContain DrawerType ToiletPaperType)
        (canContain DrawerType TissueBoxType)
        (canContain DrawerType CandleType)
        (canContain GarbageCanType SprayBottleType)
        (canContain GarbageCanType ToiletPaperType)
        (canContain GarbageCanType SoapBarType)
        (canContain GarbageCanType SoapBottleType)
        (canContain GarbageCanType TissueBoxType)
        (canContain ShelfType TissueBoxType)
        (canContain ShelfType CandleType)
        (canContain ShelfType SoapBottleType)
        (canContain ShelfType ToiletPaperType)
        (canContain ShelfType ClothType)
        (canContain ShelfType SprayBottleType)
        (canContain SinkBasinType SoapBarType)
        (canContain SinkBasinType ClothType)
        (canContain ToiletType ToiletPaperType)
        (canContain ToiletType SoapBottleType)
        (canContain ToiletType CandleType)
        (canContain ToiletType TissueBoxType)
        (canContain ToiletType ClothType)
        (canContain ToiletType SprayBottleType)
        (canContain ToiletType SoapBarType)

        (objectType SoapBar_bar_a SoapBarType) (inReceptacle SoapBar_bar_a Sink_bar_a_bar_SinkBasin) (objectAtLocation SoapBar_bar_a loc_bar_1)
            (pickupable SoapBar_bar_a) (cleanable SoapBar_bar_a)
        (objectType SoapBottle_bar_a SoapBottleType) (inReceptacle SoapBottle_bar_a CounterTop_bar_a) (objectAtLocation SoapBottle_bar_a loc_bar_2)
            (pickupable SoapBottle_bar_a)
        (objectType Candle_bar_a CandleType) (inReceptacle Candle_bar_a CounterTop_bar_a) (objectAtLocation Candle_bar_a loc_bar_2)
            (pickupable Candle_bar_a)
        (objectType ToiletPaper_bar_a ToiletPaperType) (inReceptacle ToiletPaper_bar_a Toilet_bar_a) (objectAtLocation ToiletPaper_bar_a loc_bar_3)
            (pickupable ToiletPaper_bar_a)
        (objectType SprayBottle_bar_a SprayBottleType) (inReceptacle SprayBottle_bar_a Cabinet_bar_a) (objectAtLocation SprayBottle_bar_a loc_bar_4)
            (pickupable SprayBottle_bar_a)
        (objectType Cloth_bar_a ClothType) (inReceptacle Cloth_bar_a Cabinet_bar_b) (objectAtLocation Cloth_bar_a loc_bar_5)
            (pickupable Cloth_bar_a) (cleanable Cloth_bar_a)
        (objectType ToiletPaper_bar_b ToiletPaperType) (inReceptacle ToiletPaper_bar_b Cabinet_bar_b) (objectAtLocation ToiletPaper_bar_b loc_bar_5)
            (pickupable ToiletPaper_bar_b)
        (objectType SoapBar_bar_b SoapBarType) (inReceptacle SoapBar_bar_b Drawer_bar_a) (objectAtLocation SoapBar_bar_b loc_bar_7)
            (pickupable SoapBar_bar_b) (cleanable SoapBar_bar_b)
        (objectType TissueBox_bar_a TissueBoxType) (inReceptacle TissueBox_bar_a Shelf_bar_a) (objectAtLocation TissueBox_bar_a loc_bar_9)
            (pickupable TissueBox_bar_a)
        (objectType SoapBottle_bar_b SoapBottleType) (inReceptacle SoapBottle_bar_b Cart_bar_a) (objectAtLocation SoapBottle_bar_b loc_bar_10)
            (pickupable SoapBottle_bar_b)
        (objectType SprayBottle_bar_b SprayBottleType) (inReceptacle SprayBottle_bar_b GarbageCan_bar_a) (objectAtLocation SprayBottle_bar_b loc_bar_11)
            (pickupable SprayBottle_bar_b)
    )
    (:goal
        (and
            (exists (?r - receptacle)
                (exists (?o - object)
                    (and
                        (cleanable ?o)
                        (isClean ?o)
                        (objectType ?o ClothType)
                        (receptacleType ?r DrawerType)
                        (inReceptacle ?o ?r)
                    )
                )
            )
        )
    )
)
