declare const __OSTIARY_VERSION__: string;
declare const __OSTIARY_BUILD__: string;

/** The version of this build; `0.0.0-source` if the source runs without a build. */
export const version: string = typeof __OSTIARY_VERSION__ === 'string' ? __OSTIARY_VERSION__ : '0.0.0-source';

/** A hash of everything that this build was made of; undefined if the source runs without a build. */
export const build: string | undefined = typeof __OSTIARY_BUILD__ === 'string' ? __OSTIARY_BUILD__ : undefined;
