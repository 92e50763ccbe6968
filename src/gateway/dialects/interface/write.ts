import type { WireKind } from '../../dialect.ts';
import { list, one, uidOf } from '../rest.ts';
import { copies, readOnly } from './fields.ts';

/** A kind that is listed and created at its root, and read, replaced and deleted at `root/id`. */
export function restful(root: string): WireKind {
  const at = one(root);
  return { list: list(root), names: {}, readOnly, copies, uidOf, detail: at, create: root, update: at, remove: at };
}
