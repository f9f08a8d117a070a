"""A small shop: categories, a box to look for products, product pages, a cart, orders of a signed-in customer.

Some of its paths are those that WebArena's shop has too, so that tasks of the benchmark which ask for one page can be
judged here. Its products, prices and orders are made up.
"""

from dataclasses import dataclass, field
from html import escape
from typing import Final

from planroute.domains.webarena.sites.serving import Answer, Asked, link, missing, page, to


@dataclass(frozen=True, slots=True)
class Product:
    """What is sold: its page, name, price in dollars, stars out of five, category, and colours to choose from."""

    sku: str
    slug: str
    name: str
    price: str
    stars: str
    category: str
    colours: tuple[str, ...] = ()


CATEGORIES: Final = {
    "/video-games.html": "Video Games",
    "/electronics/headphones.html": "Headphones",
    "/home-kitchen/tea.html": "Tea",
}
PRODUCTS: Final = (
    Product("101", "pocket-puzzle-console", "Pocket Puzzle Console", "49.00", "4.1", "Video Games"),
    Product("102", "racing-wheel", "Racing Wheel", "129.50", "3.9", "Video Games"),
    Product("201", "studio-headphones", "Studio Headphones", "89.90", "4.7", "Headphones", ("Black", "Blue", "White")),
    Product("202", "running-earbuds", "Running Earbuds", "35.25", "3.6", "Headphones"),
    Product("301", "oolong-tea", "Oolong Tea", "12.40", "4.8", "Tea"),
    Product("302", "peppermint-tea", "Peppermint Tea", "6.80", "4.2", "Tea"),
)
ORDERS: Final = {
    "189": ("Pending", "77.30"),
    "180": ("Complete", "65.32"),
    "170": ("Canceled", "365.42"),
}


@dataclass(slots=True)
class Shop:
    """The shop's state: what is in the cart, orders that were placed, messages that were sent."""

    cart: list[tuple[Product, str, str]] = field(default_factory=list)
    placed: int = 0

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""
        product = next((each for each in PRODUCTS if asked.path == f"/{each.slug}.html"), None)
        if product is not None:
            return self._product(product)
        if asked.path in CATEGORIES:
            name = CATEGORIES[asked.path]
            return self._listing(name, [each for each in PRODUCTS if each.category == name])
        match asked.method, asked.path.rstrip("/"):
            case "GET", "":
                return self._page("One Small Shop", "<p>Welcome.</p>" + FINDER)
            case "GET", "/catalogsearch/result":
                words = asked.query.get("q", "").lower().split()
                found = [each for each in PRODUCTS if all(word in each.name.lower() for word in words)]
                return self._listing(f"Results for {asked.query.get('q', '')}", found)
            case "POST", path if path.startswith("/checkout/cart/add/product/"):
                return self._add(path.rpartition("/")[2], asked)
            case "GET", "/checkout/cart":
                return self._cart()
            case "POST", "/checkout/order":
                return self._order(asked)
            case "GET", "/checkout/onepage/success":
                return self._page("Thank you", f"<p>Orders placed: {self.placed}</p>")
            case "GET", "/customer/account/login":
                return self._page("Sign in", LOGIN)
            case "POST", "/customer/account/loginPost":
                right = asked.form.get("login") == "emma" and asked.form.get("password") == "lovelace"
                return to("/sales/order/history/", "session=1") if right else self._page("Sign in", WRONG + LOGIN)
            case "GET", "/sales/order/history":
                return self._orders(asked)
            case "GET", path if path.startswith("/sales/order/view/order_id/"):
                return self._one_order(path.rpartition("/")[2], asked)
            case "GET", "/contact":
                return self._page("Contact us", CONTACT)
            case "POST", "/contact/index/post":
                return self._page("Message sent", "<p>We shall answer soon.</p>")
        return missing()

    def _page(self, title: str, body: str) -> Answer:
        links = [(name, path) for path, name in CATEGORIES.items()]
        own = [("Home", "/"), ("Cart", "/checkout/cart/"), ("Orders", "/sales/order/history/")]
        return page(title, body, [*own, ("Sign in", "/customer/account/login/"), ("Contact us", "/contact/"), *links])

    def _listing(self, title: str, found: list[Product]) -> Answer:
        rows = "".join(f"<li>{link(each.name, f'/{each.slug}.html')} ${each.price}</li>" for each in found)
        return self._page(title, FINDER + (f"<ul>{rows}</ul>" if rows else "<p>Nothing was found.</p>"))

    def _product(self, product: Product) -> Answer:
        options = "".join(f"<option>{escape(colour)}</option>" for colour in product.colours)
        colour = f"<label>Colour <select name=colour>{options}</select></label>" if options else ""
        return self._page(
            product.name,
            f"<p>Price: ${product.price}</p><p>Rating: {product.stars} of 5</p><p>SKU: {product.sku}</p>"
            f"<form method=post action=/checkout/cart/add/product/{product.sku}>{colour}"
            f"<input type=hidden name=product value={product.sku}>"
            "<label>Qty <input name=qty value=1></label><button>Add to Cart</button></form>",
        )

    def _add(self, sku: str, asked: Asked) -> Answer:
        product = next((each for each in PRODUCTS if each.sku == sku), None)
        if product is None:
            return missing()
        self.cart.append((product, asked.form.get("qty", "1"), asked.form.get("colour", "")))
        return to("/checkout/cart/")

    def _cart(self) -> Answer:
        if not self.cart:
            return self._page("Cart", "<p>The cart is empty.</p>")
        rows = "".join(
            f"<li>{escape(qty)} x {escape(each.name)} {escape(colour)}</li>" for each, qty, colour in self.cart
        )
        return self._page("Cart", f"<ul>{rows}</ul>" + ORDER)

    def _order(self, asked: Asked) -> Answer:
        if not self.cart:
            return to("/checkout/cart/")
        self.cart.clear()
        self.placed += 1
        return to("/checkout/onepage/success/")

    def _orders(self, asked: Asked) -> Answer:
        if not asked.signed_in:
            return to("/customer/account/login/")
        rows = "".join(
            f"<li>{link(f'Order {number}', f'/sales/order/view/order_id/{number}/')} {status}</li>"
            for number, (status, _) in ORDERS.items()
        )
        return self._page("My orders", f"<p>Orders: {len(ORDERS)}</p><ul>{rows}</ul>")

    def _one_order(self, number: str, asked: Asked) -> Answer:
        if not asked.signed_in:
            return to("/customer/account/login/")
        if number not in ORDERS:
            return missing()
        status, total = ORDERS[number]
        return self._page(f"Order {number}", f"<p>Status: {status}</p><p>Total: ${total}</p>")


FINDER: Final = "<form action=/catalogsearch/result/><input name=q aria-label='Look for'><button>Find</button></form>"
LOGIN: Final = (
    "<form method=post action=/customer/account/loginPost/><label>User <input name=login></label>"
    "<label>Password <input type=password name=password></label><button>Log in</button></form>"
)
WRONG: Final = "<p role=alert>User or password is wrong.</p>"
ORDER: Final = (
    "<form method=post action=/checkout/order><label>Street <input name=street></label>"
    "<label>Shipping <select name=shipping><option>Standard<option>Express</select></label>"
    "<button>Place order</button></form>"
)
CONTACT: Final = (
    "<form method=post action=/contact/index/post/><label>Name <input name=name></label>"
    "<label>Message <textarea name=comment></textarea></label><button>Send</button></form>"
)
