import type { WireKind } from '../../dialect.ts';
import { restList, objectPath, readUid } from '../shared/rest.ts';
import { secretEchoes, readOnly } from './fields.ts';

/** A kind that is listed and created at its root, and read, replaced and deleted at `root/id`. */
export function restful(root: string): WireKind {
  const at = objectPath(root);
  return {
    list: restList(root),
    fieldNames: {},
    readOnly,
    secretEchoes: secretEchoes,
    uidOf: readUid,
    detailPath: at,
    createPath: root,
    updatePath: at,
    removePath: at,
  };
}
