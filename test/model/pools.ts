/** The values that the generator chooses from, and that the universes of the model are complete for. */
export const pools = {
  groups: ['a', 'b', 'c', 'x'],
  words: ['DROP', 'drop', 'DROP TABLE', 'GRANT', 'TRUNCATE'],
  patterns: ['(?i)drop', '^DROP', 'GR.NT', 'DROP|GRANT', 'zzzz', '(?i)drop +table', '[A-Z]{4}'],
  registered: ['PERSON', 'URL', 'EMAIL_ADDRESS'],
  denied: ['E12', 'Ann'],
  expressions: ['E[0-9]+', 'E1[0-9]', 'D[0-9]+', '(?i)e[0-9]+'],
  redacted: ['EMAIL_ADDRESS', 'PERSON'],
  metadata: ['ticket', 'reason'],
  attributes: ['pii', 'ops'],
  durations: [600, 3600, 172_800, 2_592_000],
  thresholds: [0, 0.2, 0.5, 0.8, 1],
  scores: [0, 0.3, 0.5, 0.7, 0.9, 1],
} as const;

/** The longest access in seconds of `ostiary serve` where a connection sets none: 48 hours. */
export const servedLimit = 172_800;
