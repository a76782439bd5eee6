import CarillonCore

/// Short names of emoji in what people write, such as `:tada:`, which their own clients show as pictures.
enum EmojiNames {
    /// The longest name, in bytes.
    private static let longest = 32

    /// A text with pictures in the place of names that are known. A name begins and ends a word.
    static func shown(in text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count(where: { $0 == colon }) > 1 else { return text }
        var shown: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == colon, index == 0 || !bytes[index - 1].isASCIIAlphanumeric,
                let end = bytes[(index + 1)...].prefix(longest + 1).firstIndex(of: colon),
                end + 1 == bytes.count || !bytes[end + 1].isASCIIAlphanumeric,
                let picture = picture(of: String(decoding: bytes[(index + 1)..<end], as: UTF8.self))
            {
                shown += picture.utf8
                index = end + 1
            } else {
                shown.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private static let colon = UInt8(ascii: ":")

    private static func picture(of name: String) -> String? {
        if let picture = pictures[name] { return picture }
        // A flag is the two letters of its country.
        guard name.hasPrefix("flag-") || name.hasPrefix("flag_"), name.utf8.count == 7 else { return nil }
        let letters = name.unicodeScalars.suffix(2).compactMap { letter in
            ("a"..."z").contains(letter) ? Unicode.Scalar(0x1F1E6 + letter.value - 0x61) : nil
        }
        return letters.count == 2 ? String(String.UnicodeScalarView(letters)) : nil
    }

    private static let pictures: [String: String] = {
        var pictures: [String: String] = [:]
        var picture = ""
        for token in table.split(whereSeparator: \.isWhitespace).map(String.init) {
            if token.utf8.allSatisfy({ $0 < 0x80 }) { pictures[token] = picture } else { picture = token }
        }
        return pictures
    }()

    /// Each emoji with its names in chat systems behind it.
    private static let table = """
        👍 +1 thumbs_up thumbsup 👎 -1 _1 thumbs_down thumbsdown 💯 100 hundred_points 🔢 1234 input_numbers
        🥇 1st_place_medal 🥈 2nd_place_medal 🥉 3rd_place_medal 🎱 8ball pool_8_ball
        🅰️ a a_button_(blood_type) a_button_blood_type 🆎 ab ab_button_blood_type 🧮 abacus 🔤 abc input_latin_letters
        🔡 abcd input_latin_lowercase 🉑 accept japanese_acceptable_button 🪗 accordion 🩹 adhesive_bandage
        🎟️ admission_tickets tickets 🧑 adult person 🚡 aerial_tramway ✈️ airplane
        🛬 airplane_arrival airplane_arriving flight_arrival 🛫 airplane_departure flight_departure ⏰ alarm_clock
        ⚗️ alembic 👽 alien 👾 alien_monster space_invader 🚑 ambulance 🏈 american_football football 🏺 amphora
        🫀 anatomical_heart ⚓ anchor 👼 angel baby_angel 💢 anger anger_symbol 😠 angry angry_face
        👿 angry_face_with_horns imp 😧 anguished anguished_face 🐜 ant 📶 antenna_bars signal_strength 🍎 apple red_apple
        ♒ aquarius ♈ aries ◀️ arrow_backward reverse_button ⏬ arrow_double_down fast_down_button
        ⏫ arrow_double_up fast_up_button ⬇️ arrow_down down_arrow 🔽 arrow_down_small downwards_button
        ▶️ arrow_forward play_button ⤵️ arrow_heading_down ⤴️ arrow_heading_up ⬅️ arrow_left left_arrow
        ↙️ arrow_lower_left down-left_arrow down_left_arrow ↘️ arrow_lower_right down-right_arrow down_right_arrow
        ➡️ arrow_right right_arrow ↪️ arrow_right_hook ⬆️ arrow_up up_arrow ↕️ arrow_up_down up-down_arrow up_down_arrow
        🔼 arrow_up_small upwards_button ↖️ arrow_upper_left up-left_arrow up_left_arrow
        ↗️ arrow_upper_right up-right_arrow up_right_arrow 🔃 arrows_clockwise 🔄 arrows_counterclockwise
        🎨 art artist_palette 🚛 articulated_lorry 🛰️ artificial_satellite satellite *️⃣ asterisk keycap_*
        😲 astonished astonished_face 👟 athletic_shoe running_shoe 🏧 atm atm_sign ⚛️ atom_symbol 🛺 auto_rickshaw
        🚗 automobile car red_car 🥑 avocado 🪓 axe 🅱️ b b_button_(blood_type) b_button_blood_type 👶 baby 🍼 baby_bottle
        🐤 baby_chick 🚼 baby_symbol 🔙 back back_arrow 🎒 backpack school_satchel 🥓 bacon 🦡 badger 🏸 badminton 🥯 bagel
        🛄 baggage_claim 🥖 baguette_bread ⚖️ balance_scale scales 🩰 ballet_shoes 🎈 balloon 🗳️ ballot_box
        ☑️ ballot_box_with_check check_box_with_check 🎍 bamboo pine_decoration 🍌 banana ‼️ bangbang 🪕 banjo 🏦 bank
        📊 bar_chart 💈 barber barber_pole ⚾ baseball 🧺 basket 🏀 basketball 🦇 bat 🛀 bath person_taking_bath 🛁 bathtub
        🔋 battery 🏖️ beach_umbrella beach_with_umbrella 🫘 beans 🐻 bear 🧔 bearded_person person_beard
        💓 beating_heart heartbeat 🦫 beaver 🛏️ bed 🐝 bee honeybee 🍺 beer beer_mug 🍻 beers clinking_beer_mugs 🪲 beetle
        🔰 beginner japanese_symbol_for_beginner 🔔 bell 🫑 bell_pepper 🔕 bell_with_slash no_bell 🛎️ bellhop_bell
        🍱 bento bento_box 🧃 beverage_box 🚲 bicycle bike 🚴 bicyclist person_biking 👙 bikini 🧢 billed_cap
        ☣️ biohazard biohazard_sign 🐦 bird 🎂 birthday birthday_cake 🦬 bison 🫦 biting_lip ⚫ black_circle
        ⏺️ black_circle_for_record record_button 🏴 black_flag waving_black_flag 🖤 black_heart 🃏 black_joker joker
        ⬛ black_large_square ◾ black_medium_small_square ◼️ black_medium_square ✒️ black_nib ▪️ black_small_square
        🔲 black_square_button ⏹️ black_square_for_stop stop_button
        👱 blond_haired_person person_blond_hair person_with_blond_hair 🌼 blossom 🐡 blowfish 📘 blue_book
        🚙 blue_car sport_utility_vehicle 🔵 blue_circle large_blue_circle 💙 blue_heart 🟦 blue_square 🫐 blueberries
        😊 blush 🐗 boar ⛵ boat sailboat 💣 bomb 🦴 bone 📖 book open_book 🔖 bookmark 📑 bookmark_tabs 📚 books
        💥 boom collision 🪃 boomerang 👢 boot womans_boot ⛹️ bouncing_ball_person person_bouncing_ball person_with_ball
        💐 bouquet 🙇 bow person_bowing 🏹 bow_and_arrow 🥣 bowl_with_spoon 🎳 bowling 🥊 boxing_glove 👦 boy 🧠 brain 🍞 bread
        🤱 breast-feeding breast_feeding 🧱 brick bricks 🌉 bridge_at_night 💼 briefcase 🩲 briefs swim_brief
        🔆 bright_button high_brightness 🥦 broccoli 💔 broken_heart 🧹 broom 🟤 brown_circle 🤎 brown_heart 🟫 brown_square
        🧋 bubble_tea 🫧 bubbles 🪣 bucket 🐛 bug 🏗️ building_construction 💡 bulb light_bulb
        🚅 bullet_train bullettrain_front 🚄 bullettrain_side high-speed_train high_speed_train 🎯 bullseye dart 🌯 burrito
        🚌 bus 🚏 bus_stop busstop 🕴️ business_suit_levitating man_in_business_suit_levitating 👤 bust_in_silhouette
        👥 busts_in_silhouette 🧈 butter 🦋 butterfly 🌵 cactus 🍰 cake shortcake 📅 calendar date 🤙 call_me_hand 📲 calling
        🐪 camel dromedary_camel 📷 camera 📸 camera_flash camera_with_flash 🏕️ camping ♋ cancer 🕯️ candle 🍬 candy
        🥫 canned_food 🛶 canoe 🔠 capital_abcd input_latin_uppercase ♑ capricorn 🗃️ card_file_box 📇 card_index
        🗂️ card_index_dividers 🎠 carousel_horse 🎏 carp_streamer flags 🪚 carpentry_saw 🥕 carrot
        🤸 cartwheeling person_cartwheeling 🏰 castle european_castle 🐈 cat cat2 🐱 cat_face
        😹 cat_with_tears_of_joy joy_cat 😼 cat_with_wry_smile smirk_cat 💿 cd optical_disk ⛓️ chains 🪑 chair 🍾 champagne
        💹 chart 📉 chart_decreasing chart_with_downwards_trend 📈 chart_increasing chart_with_upwards_trend
        ✔️ check_mark heavy_check_mark ✅ check_mark_button white_check_mark 🏁 checkered_flag chequered_flag
        🧀 cheese cheese_wedge 🍒 cherries 🌸 cherry_blossom ♟️ chess_pawn 🌰 chestnut 🐔 chicken 🧒 child 🚸 children_crossing
        🐿️ chipmunk 🍫 chocolate_bar 🥢 chopsticks 🎄 christmas_tree ⛪ church 🚬 cigarette smoking 🎦 cinema Ⓜ️ circled_m m
        🎪 circus_tent 🌇 city_sunrise sunset 🌆 city_sunset cityscape_at_dusk 🏙️ cityscape 🆑 cl cl_button
        🗜️ clamp compression 👏 clap clapping_hands 🎬 clapper clapper_board 🏛️ classical_building
        🧗 climbing person_climbing 🥂 clinking_glasses 📋 clipboard 🕐 clock1 one_oclock 🕙 clock10 ten_oclock
        🕥 clock1030 ten-thirty ten_thirty 🕚 clock11 eleven_oclock 🕦 clock1130 eleven-thirty eleven_thirty
        🕛 clock12 twelve_oclock 🕧 clock1230 twelve-thirty twelve_thirty 🕜 clock130 one-thirty one_thirty
        🕑 clock2 two_oclock 🕝 clock230 two-thirty two_thirty 🕒 clock3 three_oclock 🕞 clock330 three-thirty three_thirty
        🕓 clock4 four_oclock 🕟 clock430 four-thirty four_thirty 🕔 clock5 five_oclock 🕠 clock530 five-thirty five_thirty
        🕕 clock6 six_oclock 🕡 clock630 six-thirty six_thirty 🕖 clock7 seven_oclock 🕢 clock730 seven-thirty seven_thirty
        🕗 clock8 eight_oclock 🕣 clock830 eight-thirty eight_thirty 🕘 clock9 nine_oclock
        🕤 clock930 nine-thirty nine_thirty 📕 closed_book 🔐 closed_lock_with_key locked_with_key 🌂 closed_umbrella
        ☁️ cloud 🌩️ cloud_with_lightning 🌧️ cloud_with_rain 🌨️ cloud_with_snow 🌪️ cloud_with_tornado tornado
        🤡 clown_face ♣️ club_suit clubs 👝 clutch_bag pouch 🧥 coat 🪳 cockroach 🍸 cocktail cocktail_glass 🥥 coconut
        ☕ coffee hot_beverage ⚰️ coffin 🪙 coin 🥶 cold_face 😰 cold_sweat ☄️ comet 🧭 compass 💻 computer laptop
        💽 computer_disk minidisc 🖱️ computer_mouse three_button_mouse 🎊 confetti_ball 😖 confounded confounded_face
        😕 confused confused_face ㊗️ congratulations japanese_congratulations_button 🚧 construction 👷 construction_worker
        🎛️ control_knobs 🏪 convenience_store 🍚 cooked_rice rice 🍪 cookie 🍳 cooking egg fried_egg 🆒 cool cool_button
        👮 cop police_officer ©️ copyright 🪸 coral 🌽 corn ear_of_corn 🛋️ couch_and_lamp 👫 couple 💑 couple_with_heart
        💏 couplekiss kiss 🐄 cow cow2 🐮 cow_face 🤠 cowboy_hat_face 🦀 crab 🫫 cracking_face 🖍️ crayon lower_left_crayon
        💳 credit_card 🌙 crescent_moon 🦗 cricket 🏏 cricket_bat_and_ball cricket_game 🐊 crocodile 🥐 croissant
        ❌ cross_mark x ❎ cross_mark_button negative_squared_cross_mark 🤞 crossed_fingers 🎌 crossed_flags
        ⚔️ crossed_swords 👑 crown 🩼 crutch 😢 cry crying_face 😿 crying_cat crying_cat_face 🔮 crystal_ball 🥒 cucumber
        🥤 cup_with_straw 🧁 cupcake 💘 cupid heart_with_arrow 🥌 curling_stone ➰ curly_loop 💱 currency_exchange
        🍛 curry curry_rice 🤬 cursing_face 🍮 custard 🛃 customs 🥩 cut_of_meat 🌀 cyclone 🗡️ dagger dagger_knife
        💃 dancer woman_dancing 👯 dancers 🍡 dango 🕶️ dark_sunglasses 💨 dash dashing_away 🧏 deaf_person 🌳 deciduous_tree
        🦌 deer 🚚 delivery_truck truck 🏬 department_store 🏚️ derelict_house derelict_house_building 🏜️ desert
        🏝️ desert_island 🖥️ desktop_computer 🕵️ detective sleuth_or_spy
        💠 diamond_shape_with_a_dot_inside diamond_with_a_dot ♦️ diamond_suit diamonds 🔅 dim_button low_brightness
        😞 disappointed disappointed_face 😥 disappointed_relieved sad_but_relieved_face 🥸 disguised_face 🫪 distorted_face
        ➗ divide heavy_division_sign 🤿 diving_mask 🪔 diya_lamp 💫 dizzy
        😵 dizzy_face face_with_crossed_out_eyes knocked_out_face 🧬 dna 🚯 do_not_litter no_littering 🦤 dodo 🐕 dog dog2
        🐶 dog_face 💵 dollar dollar_banknote 🎎 dolls japanese_dolls 🐬 dolphin flipper 🫏 donkey 🚪 door 🫥 dotted_line_face
        🔯 dotted_six_pointed_star six_pointed_star ➿ double_curly_loop loop ⏸️ double_vertical_bar pause_button
        🍩 doughnut 🕊️ dove dove_of_peace 🐉 dragon 🐲 dragon_face 👗 dress 🤤 drooling_face 🩸 drop_of_blood 💧 droplet 🥁 drum
        🦆 duck 🥟 dumpling 📀 dvd 📧 e-mail e_mail email 🦅 eagle 👂 ear 🌾 ear_of_rice sheaf_of_rice 🦻 ear_with_hearing_aid
        🌍 earth_africa globe_showing_europe_africa 🌎 earth_americas globe_showing_americas
        🌏 earth_asia globe_showing_asia_australia 🥚 egg2 🍆 eggplant 8️⃣ eight keycap_8
        ✴️ eight-pointed_star eight_pointed_black_star eight_pointed_star ✳️ eight-spoked_asterisk eight_spoked_asterisk
        ⏏️ eject_button eject_symbol 🔌 electric_plug 🐘 elephant 🛗 elevator 🧝 elf 🪹 empty_nest 🔚 end end_arrow
        🏴󠁧󠁢󠁥󠁮󠁧󠁿 england 😡 enraged_face pout rage ✉️ envelope 📩 envelope_with_arrow 🪌 eraser 💶 euro euro_banknote
        🏤 european_post_office 🌲 evergreen_tree 🐑 ewe sheep ❗ exclamation heavy_exclamation_mark red_exclamation_mark
        🤯 exploding_head 😑 expressionless expressionless_face 👁️ eye 👓 eyeglasses glasses 👀 eyes
        😘 face_blowing_a_kiss kissing_heart 😋 face_savoring_food yum 🤮 face_vomiting vomiting_face
        🤕 face_with_head_bandage 🧐 face_with_monocle monocle_face 😮 face_with_open_mouth open_mouth
        🫣 face_with_peeking_eye 🤒 face_with_thermometer 😛 face_with_tongue stuck_out_tongue
        😶 face_without_mouth no_mouth 🤦 facepalm person_facepalming 👊 facepunch fist_oncoming oncoming_fist punch
        🏭 factory 🧚 fairy 🧆 falafel 🍂 fallen_leaf 👪 family ⏩ fast-forward_button fast_forward fast_forward_button
        ⏪ fast_reverse_button rewind 📠 fax fax_machine 😨 fearful fearful_face 🪶 feather 🐾 feet paw_prints ♀️ female_sign
        🎡 ferris_wheel ⛴️ ferry 🏑 field_hockey field_hockey_stick_and_ball 🫯 fight_cloud 🗄️ file_cabinet 📁 file_folder
        🎞️ film_frames film_strip 📽️ film_projector 🫆 fingerprint 🔥 fire 🚒 fire_engine 🧯 fire_extinguisher 🧨 firecracker
        🎆 fireworks 🌓 first_quarter_moon 🌛 first_quarter_moon_with_face 🐟 fish 🍥 fish_cake fish_cake_with_swirl
        🎣 fishing_pole fishing_pole_and_fish ✊ fist fist_raised raised_fist
        🤛 fist_left left-facing_fist left_facing_fist 🤜 fist_right right-facing_fist right_facing_fist 5️⃣ five keycap_5
        ⛳ flag_in_hole golf 🦩 flamingo 🔦 flashlight 🥿 flat_shoe 🫓 flatbread ⚜️ fleur-de-lis fleur_de_lis
        💪 flexed_biceps muscle 💾 floppy_disk 🎴 flower_playing_cards 😳 flushed flushed_face 🪈 flute 🪰 fly 🥏 flying_disc
        🛸 flying_saucer 🌫️ fog 🌁 foggy 🙏 folded_hands pray 🪭 folding_hand_fan 🫕 fondue 🦶 foot 👣 footprints
        🍴 fork_and_knife 🥠 fortune_cookie ⛲ fountain 🖋️ fountain_pen lower_left_fountain_pen 4️⃣ four keycap_4
        🍀 four_leaf_clover 🦊 fox fox_face 🖼️ frame_with_picture framed_picture 🆓 free free_button 🍟 french_fries fries
        🍤 fried_shrimp 🐸 frog 🐥 front_facing_baby_chick hatched_chick 😦 frowning ☹️ frowning_face white_frowning_face
        🙍 frowning_person person_frowning 🖕 fu middle_finger ⛽ fuel_pump fuelpump 🌕 full_moon
        🌝 full_moon_face full_moon_with_face ⚱️ funeral_urn 🎲 game_die 🧄 garlic ⚙️ gear 💎 gem gem_stone ♊ gemini 🧞 genie
        👻 ghost 🎁 gift wrapped_gift 💝 gift_heart heart_with_ribbon 🫚 ginger_root 🦒 giraffe 👧 girl
        🥛 glass_of_milk milk_glass 🌐 globe_with_meridians 🧤 gloves 🌟 glowing_star star2 🥅 goal_net 🐐 goat
        👺 goblin japanese_goblin 🥽 goggles 🏌️ golfer golfing person_golfing 🪿 goose 🦍 gorilla harambe
        🎓 graduation_cap mortar_board 🍇 grapes 🍏 green_apple 📗 green_book 🟢 green_circle 💚 green_heart 🥗 green_salad
        🟩 green_square ❕ grey_exclamation 🩶 grey_heart ❔ grey_question white_question_mark 😬 grimacing grimacing_face
        😁 grin 😀 grinning grinning_face 😺 grinning_cat smiley_cat 💗 growing_heart heartpulse 💂 guard 🦮 guide_dog
        🎸 guitar 🔫 gun water_pistol 🪮 hair_pick 💇 haircut 🫈 hairy_creature 🍔 hamburger 🔨 hammer ⚒️ hammer_and_pick
        🛠️ hammer_and_wrench 🪬 hamsa 🐹 hamster ✋ hand raised_hand 🤭 hand_over_mouth 👜 handbag 🤾 handball_person
        🤝 handshake 💩 hankey pile_of_poo poop shit 🪉 harp #️⃣ hash keycap_# 🐣 hatching_chick 🎧 headphone headphones
        🪦 headstone 🙉 hear-no-evil_monkey hear_no_evil hear_no_evil_monkey ❤️ heart red_heart 💟 heart_decoration
        ❣️ heart_exclamation heavy_heart_exclamation 😍 heart_eyes smiling_face_with_heart_eyes
        😻 heart_eyes_cat smiling_cat_with_heart_eyes 🫶 heart_hands ♥️ heart_suit hearts 💲 heavy_dollar_sign
        🟰 heavy_equals_sign ➖ heavy_minus_sign minus ✖️ heavy_multiplication_x multiply ➕ heavy_plus_sign plus
        🦔 hedgehog 🚁 helicopter ⛑️ helmet_with_white_cross rescue_worker_helmet rescue_workers_helmet 🌿 herb 🌺 hibiscus
        👠 high-heeled_shoe high_heel high_heeled_shoe ⚡ high_voltage zap 🥾 hiking_boot 🛕 hindu_temple 🦛 hippopotamus
        🔪 hocho kitchen_knife knife 🕳️ hole ⭕ hollow_red_circle o 🍯 honey_pot 🪝 hook 🐎 horse racehorse 🐴 horse_face
        🏇 horse_racing 🏥 hospital 🌭 hot_dog hotdog 🥵 hot_face 🌶️ hot_pepper ♨️ hot_springs hotsprings 🏨 hotel
        ⌛ hourglass hourglass_done ⏳ hourglass_flowing_sand hourglass_not_done 🏠 house 🏘️ house_buildings houses
        🏡 house_with_garden 🤗 hugging_face hugs 😯 hushed hushed_face 🛖 hut 🪻 hyacinth 🧊 ice ice_cube 🍨 ice_cream
        🏒 ice_hockey ice_hockey_stick_and_puck ⛸️ ice_skate 🍦 icecream soft_ice_cream 🆔 id id_button
        🪪 identification_card 🉐 ideograph_advantage japanese_bargain_button 📥 inbox_tray 📨 incoming_envelope
        ☝️ index_pointing_up point_up ♾️ infinity ℹ️ information information_source
        💁 information_desk_person person_tipping_hand tipping_hand_person 😇 innocent 🔣 input_symbols symbols
        ⁉️ interrobang 📱 iphone mobile_phone 🏮 izakaya_lantern lantern red_paper_lantern 🎃 jack-o-lantern jack_o_lantern
        🗾 japan map_of_japan 🈸 japanese_application_button u7533 🏯 japanese_castle 🈹 japanese_discount_button u5272
        🈚 japanese_free_of_charge_button u7121 🈁 japanese_here_button koko 🈷️ japanese_monthly_amount_button u6708
        🈵 japanese_no_vacancy_button u6e80 👹 japanese_ogre ogre 🈴 japanese_passing_grade_button u5408
        🏣 japanese_post_office post_office 🈲 japanese_prohibited_button u7981 🈯 japanese_reserved_button u6307
        ㊙️ japanese_secret_button secret 🈂️ japanese_service_charge_button sa 🈳 japanese_vacancy_button u7a7a 🫙 jar
        👖 jeans 🪼 jellyfish 🧩 jigsaw puzzle_piece 😂 joy 🕹️ joystick 🤹 juggling_person person_juggling 🕋 kaaba 🦘 kangaroo
        🔑 key ⌨️ keyboard 0️⃣ keycap_0 zero 1️⃣ keycap_1 one 🔟 keycap_10 keycap_ten ten 2️⃣ keycap_2 two
        3️⃣ keycap_3 three 6️⃣ keycap_6 six 7️⃣ keycap_7 seven 9️⃣ keycap_9 nine 🪯 khanda 🛴 kick_scooter 👘 kimono
        💋 kiss_mark 😗 kissing kissing_face 😽 kissing_cat 😚 kissing_closed_eyes 😙 kissing_smiling_eyes 🪁 kite
        🥝 kiwi_fruit 🧎 kneeling_person person_kneeling 🪢 knot 🐨 koala 🥼 lab_coat 🏷️ label 🥍 lacrosse 🪜 ladder
        🐞 lady_beetle 🛘 landslide 🔷 large_blue_diamond 🔶 large_orange_diamond 🌗 last_quarter_moon
        🌜 last_quarter_moon_with_face ⏮️ last_track_button previous_track_button ✝️ latin_cross 😆 laughing satisfied
        🪾 leafless_tree 🥬 leafy_green 🍃 leaves 📒 ledger ↔️ left-right_arrow left_right_arrow 🛅 left_luggage
        🗨️ left_speech_bubble ↩️ leftwards_arrow_with_hook 🫲 leftwards_hand 🫹 leftwards_thumb_sign 🦵 leg 🍋 lemon ♌ leo
        🐆 leopard 🎚️ level_slider ♎ libra 🩵 light_blue_heart 🚈 light_rail 🛙 lighthouse 🔗 link
        🖇️ linked_paperclips paperclips 🦁 lion lion_face 👄 lips mouth 💄 lipstick
        🚮 litter_in_bin_sign put_litter_in_its_place 🦎 lizard 🦙 llama 🦞 lobster 🔒 lock locked
        🔏 lock_with_ink_pen locked_with_pen 🚂 locomotive steam_locomotive 🍭 lollipop 🪘 long_drum 🧴 lotion_bottle 🪷 lotus
        🧘 lotus_position 🔊 loud_sound speaker_high_volume 😭 loudly_crying_face sob 📢 loudspeaker
        🤟 love-you_gesture love_you_gesture 🏩 love_hotel 💌 love_letter 🪫 low_battery 🖊️ lower_left_ballpoint_pen pen
        🖌️ lower_left_paintbrush paintbrush 🧳 luggage 🫁 lungs 🤥 lying_face 🔍 mag 🔎 mag_right 🧙 mage 🪄 magic_wand
        🧲 magnet 🀄 mahjong mahjong_red_dragon 📫 mailbox 📪 mailbox_closed 📬 mailbox_with_mail 📭 mailbox_with_no_mail
        ♂️ male_sign 🦣 mammoth 👨 man 🕺 man_dancing 👲 man_with_gua_pi_mao person_with_skullcap
        🍊 mandarin orange tangerine 🥭 mango 👞 mans_shoe shoe 🕰️ mantelpiece_clock 🦽 manual_wheelchair 🍁 maple_leaf
        🪇 maracas 🥋 martial_arts_uniform 😷 mask 💆 massage 🧉 mate 🍖 meat_on_bone 🦾 mechanical_arm 🦿 mechanical_leg
        🎖️ medal_military military_medal 🏅 medal_sports sports_medal ⚕️ medical_symbol 📣 mega megaphone 🍈 melon
        🫠 melting_face 📝 memo pencil 👬 men_holding_hands two_men_holding_hands 🕎 menorah menorah_with_nine_branches
        🚹 mens mens_room 🧜 merperson 🤘 metal sign_of_the_horns 🪋 meteor 🚇 metro 🦠 microbe 🎤 microphone 🔬 microscope
        🪖 military_helmet 🌌 milky_way 🚐 minibus 🪞 mirror 🪩 mirror_ball 🗿 moai moyai 📴 mobile_phone_off
        🫌 monarch_butterfly 🤑 money-mouth_face money_mouth_face 💰 money_bag moneybag 💸 money_with_wings 🐒 monkey
        🐵 monkey_face 🚝 monorail 🌔 moon waxing_gibbous_moon 🥮 moon_cake 🎑 moon_viewing_ceremony rice_scene 🫎 moose
        🕌 mosque 🦟 mosquito 🛥️ motor_boat 🛵 motor_scooter 🏍️ motorcycle racing_motorcycle 🦼 motorized_wheelchair
        🛣️ motorway 🗻 mount_fuji ⛰️ mountain 🚵 mountain_bicyclist 🚠 mountain_cableway 🚞 mountain_railway
        🏔️ mountain_snow snow-capped_mountain snow_capped_mountain 🐁 mouse mouse2 🐭 mouse_face 🪤 mouse_trap
        🎥 movie_camera 🤶 mrs._claus mrs_claus 🍄 mushroom 🎹 musical_keyboard 🎵 musical_note 🎶 musical_notes notes
        🎼 musical_score 🔇 mute muted_speaker 💅 nail_care nail_polish 📛 name_badge 🏞️ national_park 🤢 nauseated_face
        🧿 nazar_amulet 👔 necktie 🤓 nerd_face 🪺 nest_with_eggs 🪆 nesting_dolls 🪍 net_with_handle 😐 neutral_face
        🆕 new new_button 🌑 new_moon 🌚 new_moon_face new_moon_with_face 📰 newspaper
        🗞️ newspaper_roll rolled-up_newspaper rolled_up_newspaper ⏭️ next_track_button 🆖 ng ng_button 🌃 night_with_stars
        🥷 ninja 🚳 no_bicycles ⛔ no_entry 🚫 no_entry_sign prohibited 🙅 no_good person_gesturing_no 📵 no_mobile_phones
        🔞 no_one_under_eighteen underage 🚷 no_pedestrians 🚭 no_smoking 🚱 non-potable_water non_potable_water 👃 nose
        📓 notebook 🔩 nut_and_bolt 🅾️ o2 o_button_(blood_type) o_button_blood_type 🌊 ocean water_wave 🐙 octopus 🍢 oden
        🏢 office office_building 🛢️ oil_drum 🆗 ok ok_button 👌 ok_hand 🙆 ok_person person_gesturing_ok 🗝️ old_key
        👴 old_man older_man 👵 old_woman older_woman 🧓 older_adult older_person 🫒 olive 🕉️ om om_symbol
        🔛 on on!_arrow on_arrow 🚘 oncoming_automobile 🚍 oncoming_bus 🚔 oncoming_police_car 🚖 oncoming_taxi
        🩱 one-piece_swimsuit one_piece_swimsuit 🧅 onion 📂 open_file_folder 👐 open_hands ☂️ open_umbrella umbrella
        ⛎ ophiuchus 📙 orange_book 🟠 orange_circle 🧡 orange_heart 🟧 orange_square 🦧 orangutan 🫍 orca ☦️ orthodox_cross
        🦦 otter 📤 outbox_tray 🦉 owl 🐂 ox 🦪 oyster 🅿️ p_button parking 📦 package 📄 page_facing_up 📃 page_with_curl
        📟 pager 🫳 palm_down_hand 🌴 palm_tree 🫴 palm_up_hand 🤲 palms_up_together 🥞 pancakes 🐼 panda panda_face
        📎 paperclip 🪂 parachute ⛱️ parasol_on_ground umbrella_on_ground 🦜 parrot 〽️ part_alternation_mark
        ⛅ partly_sunny sun_behind_cloud 🎉 party_popper tada 🥳 partying_face 🛳️ passenger_ship 🛂 passport_control
        🫛 pea_pod ☮️ peace_symbol 🍑 peach 🦚 peacock 🥜 peanuts 🍐 pear ✏️ pencil2 🐧 penguin 😔 pensive pensive_face
        🫂 people_hugging 🤼 people_wrestling wrestling 🎭 performing_arts 😣 persevere persevering_face 🤺 person_fencing
        🛌 person_in_bed sleeping_accommodation sleeping_bed 🧖 person_in_steamy_room sauna_person 🤵 person_in_tuxedo
        🙎 person_pouting person_with_pouting_face pouting_face 🙋 person_raising_hand raising_hand
        🚣 person_rowing_boat rowboat 🏃 person_running runner running 🤷 person_shrugging shrug
        🧍 person_standing standing_person 🏄 person_surfing surfer 🏊 person_swimming swimmer 🚶 person_walking walking
        👳 person_wearing_turban person_with_turban 🫅 person_with_crown 👰 person_with_veil 🧫 petri_dish
        ☎️ phone telephone ⛏️ pick 🫝 pickle 🛻 pickup_truck 🥧 pie 🐖 pig pig2 🐷 pig_face 🐽 pig_nose 💊 pill 🪅 pinata
        🤌 pinched_fingers 🤏 pinching_hand 🍍 pineapple 🏓 ping_pong table_tennis_paddle_and_ball 🩷 pink_heart ♓ pisces
        🍕 pizza 🪧 placard 🛐 place_of_worship 🍽️ plate_with_cutlery ⏯️ play_or_pause_button 🛝 playground_slide
        🥺 pleading_face 🪠 plunger 👇 point_down 👈 point_left 👉 point_right 👆 point_up_2 🚓 police_car
        🚨 police_car_light rotating_light 🐩 poodle 🍿 popcorn 📯 postal_horn 📮 postbox 🍲 pot_of_food stew 🚰 potable_water
        🥔 potato 🪴 potted_plant 🍗 poultry_leg 💷 pound pound_banknote 🫗 pouring_liquid 😾 pouting_cat 📿 prayer_beads
        🫃 pregnant_man 🫄 pregnant_person 🤰 pregnant_woman 🥨 pretzel 🤴 prince 👸 princess 🖨️ printer
        🦯 probing_cane white_cane 🟣 purple_circle 💜 purple_heart 🟪 purple_square 👛 purse 📌 pushpin
        ❓ question red_question_mark 🐇 rabbit rabbit2 🐰 rabbit_face 🦝 raccoon 🏎️ racing_car 📻 radio 🔘 radio_button
        ☢️ radioactive radioactive_sign 🚃 railway_car 🛤️ railway_track 🌈 rainbow 🤚 raised_back_of_hand 🤨 raised_eyebrow
        🖐️ raised_hand_with_fingers_splayed 🙌 raised_hands raising_hands 🐏 ram 🍜 ramen steaming_bowl 🐀 rat 🪒 razor
        🧾 receipt ♻️ recycle recycling_symbol 🔴 red_circle 🧧 red_envelope 🟥 red_square ®️ registered
        ☺️ relaxed smiling_face 😌 relieved relieved_face 🎗️ reminder_ribbon 🔁 repeat repeat_button
        🔂 repeat_one repeat_single_button 🚻 restroom 💞 revolving_hearts 🦏 rhinoceros 🎀 ribbon 🍙 rice_ball 🍘 rice_cracker
        🗯️ right_anger_bubble 🫱 rightwards_hand 🫺 rightwards_thumb_sign 💍 ring 🛟 ring_buoy 🪐 ringed_planet
        🍠 roasted_sweet_potato sweet_potato 🤖 robot robot_face 🪨 rock 🚀 rocket 🤣 rofl 🙄 roll_eyes 🧻 roll_of_paper
        🎢 roller_coaster 🛼 roller_skate 🐓 rooster 🫜 root_vegetable 🌹 rose 🏵️ rosette 📍 round_pushpin 🏉 rugby_football
        🎽 running_shirt running_shirt_with_sash 🧷 safety_pin 🦺 safety_vest ♐ sagittarius 🍶 sake 🧂 salt 🫡 saluting_face
        👡 sandal womans_sandal 🥪 sandwich 🎅 santa santa_claus 🥻 sari 📡 satellite_antenna 🦕 sauropod 🎷 saxophone 🧣 scarf
        🏫 school ✂️ scissors ♏ scorpio scorpius 🦂 scorpion 🏴󠁧󠁢󠁳󠁣󠁴󠁿 scotland 😱 scream 🙀 scream_cat weary_cat
        🪛 screwdriver 📜 scroll 🦭 seal 💺 seat 🙈 see-no-evil_monkey see_no_evil see_no_evil_monkey 🌱 seedling 🤳 selfie
        🪡 sewing_needle 🫨 shaking_face 🥘 shallow_pan_of_food ☘️ shamrock 🦈 shark 🍧 shaved_ice 🐚 shell spiral_shell
        🛡️ shield ⛩️ shinto_shrine 🚢 ship 👕 shirt t-shirt t_shirt tshirt 🌠 shooting_star stars 🛍️ shopping shopping_bags
        🛒 shopping_cart 🩳 shorts 🪏 shovel 🚿 shower 🦐 shrimp 🔀 shuffle_tracks_button twisted_rightwards_arrows
        🤫 shushing_face 🛹 skateboard 🎿 ski skis ⛷️ skier 💀 skull ☠️ skull_and_crossbones 🦨 skunk 🛷 sled
        😴 sleeping sleeping_face 😪 sleepy sleepy_face 🙂 slightly_smiling_face 🎰 slot_machine 🦥 sloth 🛩️ small_airplane
        🔹 small_blue_diamond 🔸 small_orange_diamond 🔺 small_red_triangle 🔻 small_red_triangle_down 😄 smile 😸 smile_cat
        😃 smiley 🥰 smiling_face_with_three_hearts 😈 smiling_imp 😏 smirk smirking_face 🐌 snail 🐍 snake 🤧 sneezing_face
        🏂 snowboarder ❄️ snowflake ☃️ snowman snowman_with_snow ⛄ snowman_without_snow 🧼 soap ⚽ soccer soccer_ball
        🧦 socks 🥎 softball 🔜 soon soon_arrow 🆘 sos sos_button 🔉 sound speaker_medium_volume ♠️ spade_suit spades
        🍝 spaghetti ❇️ sparkle 🎇 sparkler ✨ sparkles 💖 sparkling_heart
        🙊 speak-no-evil_monkey speak_no_evil speak_no_evil_monkey 🔈 speaker speaker_low_volume
        🗣️ speaking_head speaking_head_in_silhouette 💬 speech_balloon 🚤 speedboat 🕷️ spider 🕸️ spider_web
        🗓️ spiral_calendar spiral_calendar_pad 🗒️ spiral_note_pad spiral_notepad 🫟 splatter 🧽 sponge 🥄 spoon
        🐳 spouting_whale whale 🦑 squid 🏟️ stadium ⭐ star 🤩 star-struck star_struck ☪️ star_and_crescent ✡️ star_of_david
        🚉 station 🗽 statue_of_liberty 🩺 stethoscope 🛑 stop_sign ⏱️ stopwatch 📏 straight_ruler 🍓 strawberry
        😝 stuck_out_tongue_closed_eyes 😜 stuck_out_tongue_winking_eye 🎙️ studio_microphone 🥙 stuffed_flatbread
        ☀️ sun sunny 🌦️ sun_behind_rain_cloud white_sun_behind_cloud_with_rain 🌞 sun_with_face 🌻 sunflower 😎 sunglasses
        🌅 sunrise 🦸 superhero 🦹 supervillain 🍣 sushi 🚟 suspension_railway 🦢 swan 😓 sweat 💦 sweat_droplets sweat_drops
        😅 sweat_smile 🕍 synagogue 💉 syringe 🦖 t-rex t_rex 🌮 taco 🥡 takeout_box 🫔 tamale 🎋 tanabata_tree ♉ taurus 🚕 taxi
        🍵 tea teacup_without_handle 🫖 teapot 📆 tear-off_calendar tear_off_calendar 🧸 teddy_bear 📞 telephone_receiver
        🔭 telescope 📺 television tv 🎾 tennis ⛺ tent 🧪 test_tube 🌡️ thermometer 🤔 thinking thinking_face 🩴 thong_sandal
        💭 thought_balloon 🧵 thread ⛈️ thunder_cloud_and_rain 🎫 ticket 🐅 tiger tiger2 🐯 tiger_face ⏲️ timer_clock
        😫 tired_face ™️ tm trade_mark 🚽 toilet 🗼 tokyo_tower 🍅 tomato 👅 tongue 🧰 toolbox 🦷 tooth 🪥 toothbrush
        🔝 top top_arrow 🎩 top_hat tophat 🖲️ trackball 🚜 tractor 🚥 traffic_light 🚆 train train2 🚊 tram 🚋 tram_car
        ⚧️ transgender_symbol 🪎 treasure_chest 🚩 triangular_flag triangular_flag_on_post 📐 triangular_ruler
        🔱 trident trident_emblem 😤 triumph 🧌 troll 🚎 trolleybus 🪊 trombone 🏆 trophy 🍹 tropical_drink 🐠 tropical_fish
        🎺 trumpet 🌷 tulip 🥃 tumbler_glass 🦃 turkey 🐢 turtle 🐫 two-hump_camel two_hump_camel 💕 two_hearts
        👭 two_women_holding_hands women_holding_hands 🈺 u55b6 🈶 u6709 😒 unamused unamused_face 🦄 unicorn unicorn_face
        🔓 unlock unlocked 🆙 up up!_button up_button 🙃 upside-down_face upside_down_face ✌️ v victory_hand 🧛 vampire
        📼 vhs videocassette 📳 vibration_mode 📹 video_camera 🎮 video_game 🎻 violin ♍ virgo 🌋 volcano 🏐 volleyball
        🆚 vs vs_button 🖖 vulcan_salute 🧇 waffle 🏴󠁧󠁢󠁷󠁬󠁳󠁿 wales 🌘 waning_crescent_moon 🌖 waning_gibbous_moon ⚠️ warning
        🗑️ wastebasket ⌚ watch 🐃 water_buffalo 🚾 water_closet wc 🤽 water_polo 🍉 watermelon 👋 wave waving_hand
        🏳️ waving_white_flag white_flag 〰️ wavy_dash 🌒 waxing_crescent_moon 😩 weary weary_face 💒 wedding
        🏋️ weight_lifter weight_lifting 🐋 whale2 🛞 wheel ☸️ wheel_of_dharma ♿ wheelchair wheelchair_symbol
        ⚪ white_circle 💮 white_flower 🤍 white_heart ⬜ white_large_square ◽ white_medium_small_square
        ◻️ white_medium_square ▫️ white_small_square 🔳 white_square_button 🌥️ white_sun_behind_cloud
        🌤️ white_sun_with_small_cloud 🥀 wilted_flower 🌬️ wind_blowing_face wind_face 🎐 wind_chime 🪟 window 🍷 wine_glass
        🪽 wing 😉 wink winking_face 🛜 wireless 🐺 wolf 👩 woman 🧕 woman_with_headscarf 👚 womans_clothes 👒 womans_hat
        🚺 womens womens_room 🪵 wood 🥴 woozy_face 🗺️ world_map 🪱 worm 😟 worried worried_face 🔧 wrench ✍️ writing_hand
        🩻 x-ray x_ray 🧶 yarn 🥱 yawning_face 🟡 yellow_circle 💛 yellow_heart 🟨 yellow_square 💴 yen yen_banknote
        ☯️ yin_yang 🪀 yo-yo yo_yo 🤪 zany_face 🦓 zebra 🤐 zipper-mouth_face zipper_mouth_face 🧟 zombie 💤 zzz
        """
}
