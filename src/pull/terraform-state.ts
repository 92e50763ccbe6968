import { readStateFile } from '../disk/state-file.ts';
import { terraformProvider } from '../gateway/dialects/choose-dialect.ts';
import { registry } from '../kinds/index.ts';
import { handOverState, type MatchedObjects, readTerraformState, type StateObject } from '../manifest/pull/terraform-state.ts';
import type { DesiredState } from '../model/desired.ts';
import { InputError } from '../model/errors.ts';
import type { PullManifests } from './make-manifests.ts';
import type { ProjectContext } from '../project/project-selection.ts';

/** Reads what a state of Terraform owns; one that cannot be used is thrown. */
export function readOwnedObjects(path: string, context: ProjectContext): readonly StateObject[] {
  const { value: file, diagnostics: unread } = readStateFile(path, context.cwd);
  if (file === undefined) throw new InputError(unread);
  const { value, diagnostics } = readTerraformState(file, { ...terraformProvider(), registry });
  if (value === undefined) throw new InputError(diagnostics);
  return value;
}

export type StateHandover = ReturnType<typeof handOverState>;

/** What Terraform may forget once the manifests are there, and the addresses of what it forgets. */
export function handOver(objects: MatchedObjects, { drafts, pulled }: PullManifests, declared: DesiredState): StateHandover {
  const keys = [...declared.resources, ...drafts.drafts].map(({ key }) => key);
  return handOverState(objects, new Set(keys), new Map(pulled.leftOut.map(({ id, reason }) => [id, reason])));
}
