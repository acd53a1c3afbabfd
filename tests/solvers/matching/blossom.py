"""Minimum-cost perfect matching in a general graph (Edmonds 1965), plainly.

Primal-dual over exact integers, in O(n⁴): the forest is grown anew after every change of duals.
It serves the reference, not the fast pipeline.

Duals are kept per vertex with the weights of its blossoms added in, ``hat``; between vertices of
different outermost blossoms the reduced cost is cost − hat(u) − hat(v).
"""

INFINITE = 1 << 60


def perfect_matching(cost: list[list[int]]) -> list[int]:
    """Return the mate of each vertex in a perfect matching of least cost.

    Parameters
    ----------
    cost: symmetric, of an even number of vertices; every pair is an edge.
    """
    return Blossoms(cost).solve()


class Blossoms:
    """The state of one run.  Vertices are 0..n−1, blossoms have larger ids.

    Attributes
    ----------
    mate: of each vertex, −1 when exposed.
    parent: the blossom around a vertex or blossom, −1 when outermost.
    children, links: a blossom's odd cycle: ``links[b][i]`` is the edge from child i to child i+1;
        child 0 holds the base, the one vertex that is not matched inside.
    weight: of each blossom, ≥ 0.
    label: of outermost vertices and blossoms in the forest: +1 outer, −1 inner.
    entry: the edge by which an inner one entered the forest.
    """

    def __init__(self, cost: list[list[int]]) -> None:
        n = len(cost)
        self.n = n
        # Doubled costs and equal duals at the start keep every change of duals whole.
        self.cost = [[2 * c for c in row] for row in cost]
        least = min((self.cost[u][v] for u in range(n) for v in range(u)), default=0)
        self.hat = [least // 2] * n
        self.mate = [-1] * n
        self.parent = dict.fromkeys(range(n), -1)
        self.children: dict[int, list[int]] = {}
        self.links: dict[int, list[tuple[int, int]]] = {}
        self.weight: dict[int, int] = {}
        self.label: dict[int, int] = {}
        self.entry: dict[int, tuple[int, int]] = {}
        self.fresh = n

    def solve(self) -> list[int]:
        """Augment and adjust duals until every vertex is matched."""
        while -1 in self.mate:
            self.dissolve()
            if not self.search():
                self.adjust()
        return self.mate

    def outer(self, item: int) -> int:
        """The outermost blossom (or vertex) around an item."""
        while self.parent[item] >= 0:
            item = self.parent[item]
        return item

    def base(self, item: int) -> int:
        """The vertex of a blossom that is not matched inside it."""
        while item in self.children:
            item = self.children[item][0]
        return item

    def vertices(self, item: int) -> list[int]:
        """The vertices of a blossom."""
        if item not in self.children:
            return [item]
        return [v for child in self.children[item] for v in self.vertices(child)]

    def slack(self, u: int, v: int) -> int:
        """Reduced cost between vertices of different outermost blossoms."""
        return self.cost[u][v] - self.hat[u] - self.hat[v]

    def dissolve(self) -> None:
        """Undo outermost blossoms of weight 0."""
        again = True
        while again:
            again = False
            for blossom in list(self.children):
                if self.parent[blossom] < 0 and self.weight[blossom] == 0:
                    for child in self.children.pop(blossom):
                        self.parent[child] = -1
                    del self.links[blossom], self.weight[blossom], self.parent[blossom]
                    again = True

    def search(self) -> bool:
        """Grow the forest over tight edges; augment if it can be done, and say so."""
        self.entry = {}
        exposed = [v for v in range(self.n) if self.mate[v] < 0]
        self.label = {self.outer(v): 1 for v in exposed}
        again = True
        while again:
            again = False
            for u in range(self.n):
                for v in range(self.n):
                    s, t = self.outer(u), self.outer(v)
                    if s == t or self.label.get(s) != 1 or self.slack(u, v) != 0:
                        continue
                    if t not in self.label:
                        self.label[t] = -1
                        self.entry[t] = (u, v)
                        self.label[self.outer(self.mate[self.base(t)])] = 1
                    elif self.label[t] < 0:
                        continue
                    elif self.path(s)[-1] != self.path(t)[-1]:
                        self.flip(u)
                        self.flip(v)
                        self.mate[u], self.mate[v] = v, u
                        return True
                    else:
                        self.shrink(u, v)
                    again = True
        return False

    def path(self, item: int) -> list[int]:
        """From an outer item up to its root: outer, inner, outer, …, outer."""
        out = [item]
        while (mate := self.mate[self.base(out[-1])]) >= 0:
            inner = self.outer(mate)
            out += [inner, self.outer(self.entry[inner][0])]
        return out

    def shrink(self, u: int, v: int) -> None:
        """Make a blossom of the cycle that the edge closes between two outer items of a tree."""
        up, down = self.path(self.outer(u)), self.path(self.outer(v))
        top = next(item for item in up if item in down)
        left, right = up[: up.index(top)], down[: down.index(top)]
        left_links = [self.step(item) for item in left]
        right_links = [self.step(item) for item in right]
        blossom = self.fresh
        self.fresh += 1
        self.children[blossom] = [top, *reversed(left), *right]
        self.links[blossom] = [
            *((b, a) for a, b in reversed(left_links)), (u, v), *right_links
        ]  # fmt: skip
        for child in self.children[blossom]:
            self.parent[child] = blossom
            self.label.pop(child)
        self.parent[blossom], self.weight[blossom], self.label[blossom] = -1, 0, 1

    def step(self, item: int) -> tuple[int, int]:
        """The edge from an item of the forest to the next one up."""
        if self.label[item] > 0:
            base = self.base(item)
            return base, self.mate[base]
        above, here = self.entry[item]
        return here, above

    def flip(self, vertex: int) -> None:
        """Free ``vertex`` of an outer item by changing the matching along its path to the root."""
        pending: tuple[int, int] | None = None
        while True:
            item = self.outer(vertex)
            mate = self.mate[self.base(item)]
            self.rebase(item, vertex)
            if pending is not None:
                a, b = pending
                self.mate[a], self.mate[b] = b, a
            if mate < 0:
                return
            inner = self.outer(mate)
            pending = self.entry[inner]
            self.rebase(inner, pending[1])
            vertex = pending[0]

    def rebase(self, item: int, vertex: int) -> None:
        """Match a blossom inside so that ``vertex`` is its base."""
        if item not in self.children:
            return
        children, links = self.children[item], self.links[item]
        at = next(i for i, child in enumerate(children) if vertex in self.vertices(child))
        children[:] = children[at:] + children[:at]
        links[:] = links[at:] + links[:at]
        self.rebase(children[0], vertex)
        for i in range(1, len(children), 2):
            a, b = links[i]
            self.rebase(children[i], a)
            self.rebase(children[i + 1], b)
            self.mate[a], self.mate[b] = b, a

    def adjust(self) -> None:
        """Change the duals by as much as keeps them feasible."""
        step = INFINITE
        sign = [self.label.get(self.outer(v), 0) for v in range(self.n)]
        for u in range(self.n):
            for v in range(self.n):
                if sign[u] == 1 and self.outer(u) != self.outer(v):
                    if sign[v] == 0:
                        step = min(step, self.slack(u, v))
                    elif sign[v] == 1:
                        step = min(step, self.slack(u, v) // 2)
        for blossom in self.children:
            if self.parent[blossom] < 0 and self.label.get(blossom) == -1:
                step = min(step, self.weight[blossom])
        for v in range(self.n):
            self.hat[v] += sign[v] * step
        for blossom in self.children:
            if self.parent[blossom] < 0:
                self.weight[blossom] += self.label.get(blossom, 0) * step
