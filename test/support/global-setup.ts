/** Nothing to prepare yet. */
export function setup(): void {}
