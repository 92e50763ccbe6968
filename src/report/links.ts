import type { Position } from '../model/diagnostic.ts';
import { codeSpan, escapeTerminal } from './escape.ts';
import { clip } from './text/width.ts';

/** Returns the URL of a position; undefined for a file outside the repository. */
export type LinkOf = (at: Position) => string | undefined;

/** A repository's page, a commit, and the repository path of a file that diagnostics name. */
export type Tree = { readonly page: string; readonly commit: string; readonly pathOf: (file: string) => string | undefined };

/** Returns links to files and lines at one commit. */
export function fileLinks({ page, commit, pathOf }: Tree): LinkOf {
  return ({ file, line }) => {
    const path = pathOf(file);
    return path === undefined ? undefined : `${page}/blob/${commit}/${path.split('/').map(urlSegment).join('/')}#L${line}`;
  };
}

/** Encodes one segment of a path, so that nothing in it ends the segment, the link or a table's cell. */
function urlSegment(text: string): string {
  const encoded = encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  return encoded.replaceAll(/[!'()*~_]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns `file:line` for Markdown, as a link if there is one. */
export function positionMarkdown(at: Position, linkOf?: LinkOf): string {
  const shown = codeSpan(clip(`${escapeTerminal(at.file)}:${at.line}`, 200));
  const link = linkOf?.(at);
  return link === undefined ? shown : `[${shown}](${link})`;
}
