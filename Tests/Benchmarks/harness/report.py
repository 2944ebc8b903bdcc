"""The result of a run: tables of figures, and the bars that they have to clear; as text and as Markdown."""


def number(value, digits=1):
    return '–' if value is None else value if isinstance(value, str) else f'{value:,.{digits}f}'


def table(header, rows, words=1):
    """A Markdown table, padded so that it reads well in a terminal too. The first columns are words, the others are figures."""
    cells = [header, *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    pad = [str.ljust] * words + [str.rjust] * (len(header) - words)
    line = lambda row: '| ' + ' | '.join(p(c, w) for p, c, w in zip(pad, row, widths)) + ' |'
    rule = '|' + '|'.join('-' * (w + 1) + ('-' if i < words else ':') for i, w in enumerate(widths)) + '|'
    return '\n'.join([line(header), rule, *map(line, rows)])


class Report:
    def __init__(self, head):
        self.text, self.bars = [], []
        self.add(head)

    def add(self, text):
        self.text.append(text)
        print(text, flush=True)
        print(flush=True)

    def section(self, title, explanation, header, rows, words=1):
        self.add(f'## {title}\n\n{explanation}\n\n{table(header, rows, words)}')

    def bar(self, part, what, measured, limit, unit='', digits=1):
        """A figure that has to be at most `limit`; None when it could not be measured."""
        passed = None if measured is None else measured <= limit
        suffix = f' {unit}' if unit else ''
        self.bars.append((part, what, number(measured, digits) + (suffix if measured is not None else ''), f'≤ {limit:,g}{suffix}', passed))

    def claim(self, part, what, held, expected='yes'):
        """A statement that has to hold; None when it could not be tested."""
        measured = '–' if held is None else expected if held else 'no'
        self.bars.append((part, what, measured, expected, held))

    def finish(self):
        words = {True: 'pass', False: '**FAIL**', None: 'not measured'}
        rows = [[part, what, measured, limit, words[passed]] for part, what, measured, limit, passed in self.bars]
        failed = [b for b in self.bars if not b[4]]
        passed = len(rows) - len(failed)
        self.add('## All budgets\n\n'
                 f'What has to hold, of every part that ran: {passed} of {len(rows)} figures are within their bar.\n\n' + table(['part', 'figure', 'measured', 'bar', 'result'], rows, words=2))
        return not failed

    def markdown(self):
        return '\n\n'.join(self.text) + '\n'
