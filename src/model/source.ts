/** A file the user wrote: its path as shown to the user (relative to where they stand, with `/`) and its text. */
export type SourceFile = { readonly path: string; readonly text: string };
