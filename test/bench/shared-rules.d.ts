/** How rules reach connections. */
export type SharedWay = { readonly by: string; readonly kind: string; readonly dialects: readonly string[] };
/** Connections that share rules, of which some changed. */
export type SharedScene = Omit<SharedWay, 'dialects'> & { readonly connections: number; readonly rules: number; readonly changed: number };
export const sharedWays: readonly SharedWay[];
export function writeShared(folder: string, scene: SharedScene): string;
export function sharedAnswers(scene: SharedScene): Record<string, string>;
export function fillShared(root: string, token: string, scene: SharedScene): Promise<void>;
