"""A small forum: posts by subject, comments, votes, and a form for a new post."""

from dataclasses import dataclass, field
from html import escape
from typing import Final

from planroute.domains.webarena.sites.serving import Answer, Asked, link, missing, page, to

SUBJECTS: Final = ("books", "gardening")


@dataclass(slots=True)
class Post:
    """A post with its comments, each an author and a text."""

    number: int
    subject: str
    title: str
    author: str
    text: str
    votes: int = 0
    comments: list[tuple[str, str]] = field(default_factory=list)


def first_posts() -> list[Post]:
    """What is there when an episode begins."""
    return [
        Post(1, "books", "A novel for a long train ride?", "mira", "Something with a lighthouse.", 14,
             [("tom", "Try The Tide Clock."), ("ada", "The Quiet Harbour, twice.")]),
        Post(2, "books", "Which library has late hours?", "jonas", "I work until eight.", 3),
        Post(3, "gardening", "Slugs in the lettuce", "pia", "They come at night.", 21,
             [("lena", "Copper tape helped us.")]),
    ]  # fmt: skip


@dataclass(slots=True)
class Forum:
    """The forum's state."""

    posts: list[Post] = field(default_factory=first_posts)

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""
        parts = [part for part in asked.path.split("/") if part]
        match asked.method, parts:
            case "GET", []:
                return self._page("Forums", "".join(f"<p>{link(each, f'/f/{each}')}</p>" for each in SUBJECTS))
            case "GET", ["f", subject] if subject in SUBJECTS:
                rows = "".join(
                    f"<li>{link(post.title, f'/f/{subject}/{post.number}')} by {escape(post.author)},"
                    f" {post.votes} votes, {len(post.comments)} comments</li>"
                    for post in self.posts
                    if post.subject == subject
                )
                return self._page(subject, f"<ul>{rows}</ul>")
            case "GET", ["f", _, number] if post := self._post(number):
                return self._shown(post)
            case "GET", ["submit"]:
                return self._page("New post", SUBMIT)
            case "POST", ["submit"]:
                return self._submit(asked)
            case "POST", ["f", _, number, "comment"] if post := self._post(number):
                post.comments.append(("you", asked.form.get("comment", "")))
                return to(f"/f/{post.subject}/{post.number}")
            case "POST", ["f", _, number, "vote"] if post := self._post(number):
                post.votes += 1 if asked.form.get("choice") == "up" else -1
                return to(f"/f/{post.subject}/{post.number}")
        return missing()

    def _page(self, title: str, body: str) -> Answer:
        return page(title, body, [("Forums", "/"), *((each, f"/f/{each}") for each in SUBJECTS), ("Submit", "/submit")])

    def _post(self, number: str) -> Post | None:
        return next((post for post in self.posts if str(post.number) == number), None)

    def _shown(self, post: Post) -> Answer:
        said = "".join(f"<article>{escape(author)}: {escape(text)}</article>" for author, text in post.comments)
        at = f"/f/{post.subject}/{post.number}"
        return self._page(
            post.title,
            f"<p>Author: {escape(post.author)}</p><p>Votes: {post.votes}</p><p>Comments: {len(post.comments)}</p>"
            f"<p>{escape(post.text)}</p>{said}"
            f"<form method=post action={at}/vote><button name=choice value=up>Upvote</button></form>"
            f"<form method=post action={at}/comment><label>Comment <textarea name=comment></textarea></label>"
            "<button>Post comment</button></form>",
        )

    def _submit(self, asked: Asked) -> Answer:
        subject = asked.form.get("forum", "")
        if subject not in SUBJECTS or not asked.form.get("title"):
            return self._page("New post", "<p role=alert>A title is needed.</p>" + SUBMIT)
        post = Post(len(self.posts) + 1, subject, asked.form["title"], "you", asked.form.get("body", ""))
        self.posts.append(post)
        return to(f"/f/{subject}/{post.number}")


SUBMIT: Final = (
    "<form method=post action=/submit><label>Forum <select name=forum>"
    + "".join(f"<option>{each}</option>" for each in SUBJECTS)
    + "</select></label><label>Title <input name=title></label><label>Body <textarea name=body></textarea></label>"
    "<button>Create post</button></form>"
)
