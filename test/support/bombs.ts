const laughs = Array.from(
  { length: 30 },
  (_, level) =>
    `l${level}: &l${level} [${Array(9)
      .fill(level === 0 ? 'ha' : `*l${level - 1}`)
      .join(', ')}]`,
);

function lines(count: number, textOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => textOf(index)).join('');
}

/** Texts in YAML that a careless parser reads in quadratic time, or never ends reading, by what they consist of. */
export const bombs: Readonly<Record<string, (length: number) => string>> = {
  brackets: (length) => '['.repeat(length),
  'closed brackets': (length) => `${'['.repeat(length)}${']'.repeat(length)}`,
  'flow maps': (length) => '{a: '.repeat(length),
  'mixed flow': (length) => '[{a: '.repeat(length),
  'list marks': (length) => '- '.repeat(length),
  'key marks': (length) => '? '.repeat(length),
  colons: (length) => 'a: '.repeat(length),
  'lines of colons': (length) => 'a: b: c: d:\n'.repeat(length / 4),
  quotes: (length) => '"'.repeat(length * 5),
  'open quotes': (length) => `a: "${'\\"'.repeat(length * 5)}`,
  stairs: (length) => lines(Math.sqrt(length * 24), (level) => `${' '.repeat(level)}a:\n`),
  laughs: () => laughs.join('\n'),
  aliases: (length) => `a: &a 1\nb: [${'*a, '.repeat(length * 2.5)}]`,
  'an anchor in itself': () => 'a: &a [*a, *a]',
  'a long line': (length) => `a: ${'x'.repeat(length * 45)}: y`,
  'a long key': (length) => `${'x'.repeat(length * 45)}: y`,
  'white space': (length) => `a: x${' '.repeat(length * 25)}\n${' '.repeat(length * 25)}y`,
  'blank lines and comments': (length) => `- |\n  x\n${'\n'.repeat(length * 5)}${' #\n'.repeat(length * 5)}`,
  'many keys': (length) => lines(length * 3, (index) => `k${index}: 1\n`),
  'many odd keys': (length) => `? x\n: y\n${lines(length, (index) => `k${index}: 1\n`)}`,
  documents: (length) => '---\n'.repeat(length * 5),
  tabs: (length) => '\t'.repeat(length * 25),
  'carriage returns': (length) => '\r'.repeat(length * 25),
  'flow without end': (length) => `a: &x 1\nb: [${'{ k: [1, 2] }, '.repeat(length * 3.25)}*x]\n`,
  'too much': (length) => 'a'.repeat(length * 55),
};
