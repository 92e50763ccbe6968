/** A safety check: what it guards, its file below src (or above it), its text, what replaces it, the tests of which one fails without it, and a text that goes first. */
export type SafetyCheck = readonly [name: string, file: string, from: string, to: string, tests: readonly string[], first?: string];

/** All safety checks that are removed one by one. */
export const checks: readonly SafetyCheck[];
