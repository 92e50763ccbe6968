declare const __OSTIARY_VERSION__: string;

/** The version of this build; `0.0.0-source` if the source runs without a build. */
export const version: string = typeof __OSTIARY_VERSION__ === 'string' ? __OSTIARY_VERSION__ : '0.0.0-source';
