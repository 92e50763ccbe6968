import type { Comment, Forge } from '../../src/forge/forge.ts';
import { AppError } from '../../src/model/errors.ts';

/** The comments of a pull request, as a forge keeps them. */
export type MemoryForge = Pick<Forge, 'whoAmI' | 'comments' | 'latestOf' | 'createComment' | 'updateComment' | 'deleteComment'> & {
  readonly bodies: () => readonly string[];
  /** Edits a comment as another account. */
  readonly edit: (id: number, editor: string, body: string) => void;
  /** Writes a comment as another account. */
  readonly say: (author: string, body: string) => void;
};

type Kept = { readonly id: number; readonly author: string; body: string; editor: string | undefined };

/** Refuses a body as GitHub does, and trims it as both forges do. */
function accepted(body: string): string {
  if (body.length > 65_536) throw new AppError('forge/refused', 4, 'body is too long (maximum is 65536 characters)');
  return body.trim();
}

/** Creates a forge with the account of a token. */
export function memoryForge(login: string): MemoryForge {
  const kept: Kept[] = [];
  let last = 0;
  const find = (id: number): Kept => {
    const found = kept.find((one) => one.id === id);
    if (found === undefined) throw new AppError('forge/forbidden', 4, `404 comment ${id}`);
    return found;
  };
  const add = (author: string, body: string): void => void kept.push({ id: (last += 1), author, body: accepted(body), editor: undefined });
  const view = ({ id, author, body }: Kept): Comment => ({
    id,
    node: `node-${id}`,
    author,
    body,
  });
  return {
    whoAmI: () => Promise.resolve(login),
    comments: () => Promise.resolve(kept.map(view)),
    latestOf: ({ id }) => Promise.resolve({ body: find(id).body, editor: find(id).editor }),
    createComment(_, body) {
      add(login, body);
      return Promise.resolve();
    },
    updateComment(_, id, body) {
      const found = find(id);
      // Forges record no edit that changes nothing.
      if (found.body !== body.trim()) Object.assign(found, { body: accepted(body), editor: login });
      return Promise.resolve();
    },
    deleteComment(_, id) {
      kept.splice(kept.indexOf(find(id)), 1);
      return Promise.resolve();
    },
    bodies: () => kept.map(({ body }) => body),
    say: add,
    edit: (id, editor, body) => void Object.assign(find(id), { editor, body: accepted(body) }),
  };
}
