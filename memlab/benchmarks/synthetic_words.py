"""The words that synthetic stores are made of: names, topics, and sentences with gaps for them.

People, towns, houses and projects are invented; a name's parts are drawn apart and joined, so that there are
enough of them for stores of any size. Sentences of one kind say the same in different words, so that neither
counting words nor comparing meaning finds everything.
"""

FIRST_NAMES = (
    "Ana", "Aroha", "Bilal", "Chidi", "Clara", "Dagny", "Darius", "Emre", "Esther", "Farah", "Goran", "Hana",
    "Hugo", "Ines", "Isla", "Jonas", "Kaito", "Karim", "Leila", "Lucia", "Malik", "Mei", "Mirela", "Nadia",
    "Noor", "Oskar", "Paloma", "Pavel", "Quentin", "Ravi", "Rosa", "Samir", "Selma", "Tariq", "Tomas", "Uma",
    "Vera", "Wanda", "Xenia", "Yusuf", "Zofia", "Zuri",
)  # fmt: skip
SURNAME_HEADS = (
    "Alder", "Birk", "Calver", "Dorn", "Ester", "Fal", "Garr", "Hollen", "Ivar", "Jarn", "Keld", "Lind",
    "Marr", "Nor", "Osten", "Pell", "Quill", "Roth", "Sand", "Thorn", "Under", "Vann", "Wester", "Yar", "Zell",
)  # fmt: skip
SURNAME_TAILS = (
    "berg", "by", "croft", "dahl", "feld", "gren", "holm", "ing", "kov", "lund", "mark", "ner", "quist",
    "rup", "sen", "stad", "strom", "ton", "ville", "wick",
)  # fmt: skip
TOWNS = (
    "Ashmere", "Brackwater", "Cinderford", "Dunmarrow", "Eastfell", "Fernhaven", "Glimmerly", "Harrowgate Bay",
    "Ironbridge Vale", "Juniper Falls", "Kestrel Point", "Larkspur", "Mossley Green", "Northwick", "Otterburn",
    "Pinehollow", "Quarry Hill", "Ravensmouth", "Saltmarsh", "Thistledown", "Umberfield", "Violet Sound",
    "Willowbrook", "Yarrow Cross",
)  # fmt: skip
HOUSE_HEADS = (
    "Bluewater", "Copperline", "Daybreak", "Evergreen", "Fairweather", "Greystone", "Highmoor", "Inkwell",
    "Lantern", "Meridian", "Northstar", "Oakhurst", "Paragon", "Quicksilver", "Riverbend", "Silverleaf",
    "Tidewater", "Underhill", "Vantage", "Whitecap",
)  # fmt: skip
HOUSE_MIDDLES = (
    "Acoustics", "Botany", "Ceramics", "Cycling", "Dairy", "Energy", "Forestry", "Freight", "Glass", "Imaging",
    "Marine", "Optics", "Paper", "Robotics", "Seed", "Textile", "Timber", "Water",
)  # fmt: skip
HOUSE_TAILS = ("Bureau", "Company", "Cooperative", "Foundation", "Institute", "Laboratory", "Trust", "Works")
PROJECT_HEADS = (
    "Amber", "Brisk", "Cobalt", "Distant", "Ember", "Frosted", "Gentle", "Hidden", "Ivory", "Jade", "Kindled",
    "Lucky", "Midnight", "Nimble", "Opal", "Patient", "Quiet", "Rustic", "Scarlet", "Tidal", "Velvet", "Wild",
)  # fmt: skip
PROJECT_TAILS = (
    "Badger", "Crane", "Dolphin", "Egret", "Falcon", "Gecko", "Heron", "Ibex", "Jackdaw", "Kingfisher", "Lynx",
    "Marten", "Newt", "Osprey", "Puffin", "Raven", "Stoat", "Tern", "Vole", "Walrus", "Yak",
)  # fmt: skip
ROLES = (
    "bookkeeper", "carpenter", "cartographer", "chemist", "curator", "data analyst", "field geologist",
    "gardener", "laboratory technician", "lighting designer", "librarian", "marine biologist", "night nurse",
    "piano tuner", "press officer", "software developer", "structural engineer", "translator", "truck mechanic",
    "veterinary surgeon",
)  # fmt: skip
TOPICS = (
    "the migration of eels", "soil moisture sensors", "recycled glass bricks", "night trains", "bee colonies",
    "speech therapy for children", "flood barriers", "quiet wind turbines", "old harbour maps", "bread without gluten",
    "bridge inspections by drone", "seaweed as fertiliser", "the repair of violins", "solar roofs for schools",
    "water meters that report leaks", "cargo bicycles", "fungi that eat plastic", "avalanche warnings",
    "subtitles for theatre", "the noise of city traffic", "hospital waiting times", "cheap air filters",
    "the restoration of peat bogs", "tactile maps for blind travellers", "the training of rescue dogs",
    "weather balloons", "ancient dyes", "cooling without electricity", "the safety of playgrounds",
    "letters from the lighthouse keepers",
)  # fmt: skip
DISHES = (
    "apricot dumplings", "baked pumpkin", "bean stew", "black sesame ice cream", "buckwheat pancakes",
    "cardamom buns", "chickpea curry", "cold beetroot soup", "fried plantain", "grilled sardines",
    "lemon risotto", "lentil soup", "mushroom ramen", "okra with tomatoes", "onion tart", "peanut noodles",
    "pickled cabbage", "rhubarb crumble", "spinach pie", "walnut bread",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip

# Kind of fact to the ways of telling it. The letters: a, b people; town, old towns; house an employer.
TELLINGS = {
    "job": (
        "{a} works as a {role} at the {house}.",
        "The {house} hired {a} as a {role}.",
        "{a} earns a living as a {role}; the employer is the {house}.",
    ),
    "house": (
        "The {house} has its main building in {town}.",
        "The offices of the {house} stand in {town}, close to the river.",
        "Visitors of the {house} have to travel to {town}.",
    ),
    "home": (
        "{a} found a flat in {town} and settled there.",
        "{a} lives in {town}, on the top floor of a corner house.",
        "The home of {a} is in {town}.",
    ),
    "move": (
        "{a} packed up in {old} and moved to {town}.",
        "{a} left {old} for good and lives in {town}.",
        "After the time in {old}, {a} has a new home in {town}.",
    ),
    "taste": (
        "{a} can't get enough of {dish}.",
        "Nothing tastes better to {a} than {dish}.",
        "Whenever there is a choice, {a} orders {dish}.",
    ),
    "badge": (
        "{a} was given the badge {badge}.",
        "Badge {badge} opens the doors for {a}.",
        "The new badge of {a} reads {badge}.",
    ),
    "join": (
        "{a} decided to join Project {project}.",
        "From this month on {a} works for Project {project}.",
        "Project {project} won {a} over as a member.",
    ),
    "project": (
        "Project {project} is about {topic}.",
        "The people of Project {project} study {topic}.",
        "{topic_first}: that is what Project {project} was set up for.",
    ),
    "claim": (
        "{a} says that Project {project} will be finished in {month}.",
        "If {a} is right, Project {project} ends in {month}.",
        "{a} expects the last report of Project {project} in {month}.",
    ),
    "meeting": (
        "{a} met {b} in {town} to talk about {topic}.",
        "{a} and {b} sat down together in {town}; {topic} took all afternoon.",
        "{a} had coffee with {b} at the station of {town} and heard about {topic}.",
        "Over lunch in {town}, {a} and {b} argued about {topic}.",
    ),
    "chatter": (
        "{a} read a long article on {topic} and wasn't convinced.",
        "{a} sent {b} a message about {topic}; no reply so far.",
        "{a} cooked {dish} for the neighbours, and everyone asked for more.",
        "{a} wants to learn more about {topic} this winter.",
        "{b} told {a} on the phone that {topic} gets too much attention.",
        "{a} dreamt of {town} and woke up before the alarm.",
        "The bus to {town} was late again, wrote {a}.",
        "{a} is tired of hearing about {topic}.",
    ),
}

# Kind of question to the ways of asking it.
ASKINGS = {
    "job": ("What does {a} do for a living?", "What is the profession of {a}?"),
    "taste": ("What is {a}'s favourite food?", "What does {a} like to eat most?"),
    "badge": ("Who has the badge {badge}?", "Whose badge is {badge}?"),
    "workplace": ("In which town does {a} work?", "To which town does {a} travel for work?"),
    "study": ("What is the project of {a} about?", "What does the project that {a} joined study?"),
    "home": ("Where does {a} live now?", "In which town is {a} at home today?"),
    "claim": ("When will Project {project} be finished?", "When does Project {project} end?"),
    "month": ("Whom did {a} meet in {month} {year}?", "Whom did {a} see in {month} {year}?"),
    "recent": ("Whom did {a} meet in the past 30 days?",),
    "nothing": (
        "Which instrument does {a} play?",
        "What is {a} allergic to?",
        "What is the name of {a}'s dog?",
        "Which shoe size does {a} have?",
        "Who was {a}'s first teacher?",
    ),
}
