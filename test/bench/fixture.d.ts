export function manifestOf(index: number): string;
export function answersFor(count: number): Record<string, string>;
