import type { Comment, Forge } from '../../src/forge/forge.ts';
import { AppError } from '../../src/model/errors.ts';

/** The comments of a pull request, as a forge keeps them. */
export type MemoryForge = Pick<Forge, 'whoAmI' | 'comments' | 'latestOf' | 'createComment' | 'updateComment' | 'deleteComment'> & {
  readonly bodies: () => readonly string[];
  /** Edits a comment as another account. */
  readonly edit: (id: number, editor: string, body: string) => void;
};

type Kept = { readonly id: number; body: string; editor: string | undefined };

/** Creates a forge whose answers take as long as `delay`; each request takes effect at some time between its beginning and its end. */
export function memoryForge(login: string, delay: () => Promise<void> = () => Promise.resolve()): MemoryForge {
  const kept: Kept[] = [];
  let last = 0;
  const during = async <T>(work: () => T): Promise<T> => {
    await delay();
    const done = work();
    await delay();
    return done;
  };
  const find = (id: number): Kept => {
    const found = kept.find((one) => one.id === id);
    if (found === undefined) throw new AppError('forge/forbidden', 4, `404 comment ${id}`);
    return found;
  };
  const view = ({ id, body }: Kept): Comment => ({
    id,
    node: `node-${id}`,
    author: login,
    body,
  });
  return {
    whoAmI: () => Promise.resolve(login),
    comments: () => during(() => kept.map(view)),
    latestOf: ({ id }) =>
      during(() => {
        const { body, editor } = find(id);
        return { body, editor };
      }),
    createComment: (_, body) => during(() => void kept.push({ id: (last += 1), body, editor: undefined })),
    updateComment: (_, id, body) => during(() => void Object.assign(find(id), { body, editor: login })),
    deleteComment: (_, id) => during(() => void kept.splice(kept.indexOf(find(id)), 1)),
    bodies: () => kept.map(({ body }) => body),
    edit: (id, editor, body) => void Object.assign(find(id), { editor, body }),
  };
}
