import type { Position } from '../model/diagnostic.ts';
import { codeSpan } from './escape.ts';
import { clip } from './wrap.ts';
import { shortPosition } from './wording/phrases.ts';

/** Returns the URL of a position or of a commit; undefined for a file outside the repository. */
export type LinkOf = (at: Position | CommitReference) => string | undefined;

type CommitReference = { readonly commit: string };

/** A repository's page, a commit, and the repository path of a file that diagnostics name. */
type Tree = { readonly page: string; readonly commit: string; readonly pathOf: (file: string) => string | undefined };

/** Returns links to files and lines at one commit. */
export function fileLinks({ page, commit, pathOf }: Tree): LinkOf {
  return linksBelow(`${page}/blob/${commit.slice(0, linkedHash)}`, pathOf);
}

/** Returns links below a URL of the top of the repository at one commit, such as `https://host/group/project/-/blob/COMMIT`. */
export function linksBelow(base: string, pathOf: Tree['pathOf']): LinkOf {
  const [, page] = /^(.*)\/blob\/[^/]+$/.exec(base) ?? [];
  return (at) => {
    if ('commit' in at) return page === undefined ? undefined : `${page}/commit/${urlSegment(at.commit.slice(0, linkedHash))}`;
    const path = pathOf(at.file);
    return path === undefined ? undefined : `${base}/${urlPath(path)}#L${at.line}`;
  };
}

/** The characters of a commit in links: enough to be unique in a repository. */
export const linkedHash = 10;

/** Encodes a path, so that nothing in it ends the link or a table's cell. */
function urlPath(path: string): string {
  return path.split('/').map(urlSegment).join('/');
}

/** Encodes one segment of a path, so that nothing in it ends the segment, the link or a table's cell. */
function urlSegment(text: string): string {
  const encoded = encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
  return encoded.replaceAll(/[!'()*~_]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns `file:line` for Markdown, as a link if there is one. */
export function positionMarkdown(at: Position, linkOf?: LinkOf): string {
  const shown = codeSpan(clip(shortPosition(at), 200));
  const link = linkOf?.(at);
  return link === undefined ? shown : `[${shown}](${link})`;
}
