declare const __OSTIARY_VERSION__: string;

/** The version of this build; `0.0.0-source` where the source runs unbuilt. */
export const version: string = typeof __OSTIARY_VERSION__ === 'string' ? __OSTIARY_VERSION__ : '0.0.0-source';
