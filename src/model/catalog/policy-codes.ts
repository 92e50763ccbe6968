/** The messages of the section "Policies". */
export const policyCodes = {
  'policy/after-merge': {
    level: 'warning',
    meaning: 'A pull request changes a policy or a waiver',
    cause: 'The policies of the target branch apply until the merge',
    fix: 'Nothing: the change applies after the merge',
    example: 'the policy "reviewed" is removed',
  },
  'policy/deferred': {
    level: 'notice',
    meaning: '`validate` cannot evaluate some policies',
    cause: 'They need values that only the gateway has',
    fix: 'Run `ostiary plan`',
    example: 'policies over 1 connection need values that only the gateway has: reviewed',
  },
  'policy/expression': {
    meaning: 'An expression is not valid, or fails for a connection',
    cause: 'It is not CEL, has a type error, takes too long, or divides by zero or reads a missing tag',
    fix: 'Correct it at the marked place; see [Expressions](../how-to/policies.md#expressions)',
    example: 'the expression has 9,000 characters, more than 8,192',
  },
  'policy/left-match': {
    meaning: 'A connection no longer matches a policy',
    cause: 'A tag or a field of the `match` changed; it is a notice if the connection satisfies the policy',
    fix: 'Keep the match, satisfy the policy, or waive it; see [when policies are evaluated](../how-to/policies.md#when-policies-are-evaluated)',
    example:
      'policy "reviewed" no longer applies: tags.env was "prod", is now "dev"; the connection violates it: connections to production need a review',
  },
  'policy/no-such-day': {
    meaning: 'The end of a waiver is not a date',
    cause: 'The month or the day does not exist',
    fix: 'Write `YYYY-MM-DD`',
    example: 'invalid date "2027-02-30"',
  },
  'policy/unknown': {
    meaning: 'A policy could not be evaluated',
    cause: 'The token cannot see a value',
    fix: 'Use a token that sees it, check `has(…)` first, or waive it',
    example: 'policy "reviewed" could not be evaluated: the token cannot see reviewers',
  },
  'policy/violated': {
    meaning: 'A connection violates a policy',
    cause: 'The manifest or the gateway does not satisfy an expression',
    fix: 'Change the manifest, or waive it with an end date and a reason',
    example:
      'policy "long-enough": sessions last long enough for a migration (!has(connection.access_max_duration) || connection.access_max_duration >= 1800)',
  },
  'policy/waiver-ended': {
    meaning: 'A waiver has ended',
    cause: 'Its end date is over',
    fix: 'Satisfy the policy, or extend the waiver; then remove the expired waiver',
    example:
      'the waiver of "reviewed" for orders-db ended on 2026-11-01 (today is 2026-11-22) satisfy the policy or extend the waiver, then remove the expired waiver',
  },
  'policy/waiver-ending': {
    level: 'warning',
    meaning: 'A waiver ends within 14 days',
    cause: 'Its end date is near; after it the plan is refused',
    fix: 'Satisfy the policy, or extend the waiver',
    example: 'the waiver of "reviewed" for Connection/orders-db ends in 3 days (2027-02-28)',
  },
  'policy/waiver-unused': {
    level: 'warning',
    meaning: 'A waiver names no known connection',
    cause: 'The name has a typo, or the connection was removed',
    fix: 'Correct the name, or remove the waiver',
    example: 'the waiver of "reviewed" for Connection/orders-bd: unknown connection',
  },
} as const;
