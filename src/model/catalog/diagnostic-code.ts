import type catalog from './diagnostics.json';

type CodesOf<Section> = Section extends { readonly codes: infer Codes } ? keyof Codes & string : never;

/** A code of a diagnostic, an error, a refusal or an outcome: one of the catalog. The table of risks has the texts of risks. */
export type DiagnosticCode = `risk/${string}` | CodesOf<(typeof catalog)[keyof typeof catalog]>;
