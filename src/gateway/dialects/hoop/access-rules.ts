import { durationText } from '../../../model/duration.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { AccessRule } from '../../../model/live.ts';
import { restList, asArray } from '../shared/rest.ts';

/** Access-request rules review and limit beside connections; they are read, and never written. */
export const accessRules: { readonly list: ReturnType<typeof restList>; readonly read: (row: JsonObject) => AccessRule | undefined } = {
  list: restList('/access-requests/rules'),
  read,
};

function read(row: JsonObject): AccessRule | undefined {
  const { name, access_type: type, access_max_duration: duration } = row;
  if (typeof name !== 'string') return undefined;
  const reviewers = texts(row, 'reviewers_groups');
  const needed = row['all_groups_must_approve'] === true ? reviewers.length : row['min_approvals'];
  const parts = [
    `${typeof needed === 'number' ? needed : '?'} of ${reviewers.join(', ') || 'nobody'} for ${typeof type === 'string' ? type : 'access'}`,
    ...named('asked of', texts(row, 'approval_required_groups')),
    ...named('forced by', texts(row, 'force_approval_groups')),
    ...named('skipped by', texts(row, 'skip_review_groups')),
    ...(typeof duration === 'number' && duration > 0 ? [`at most ${durationText(duration)}`] : []),
  ];
  return { name, connections: texts(row, 'connection_names'), attributes: texts(row, 'attributes'), text: parts.join('; ') };
}

function named(what: string, groups: readonly string[]): readonly string[] {
  return groups.length === 0 ? [] : [`${what} ${groups.join(', ')}`];
}

function texts(row: JsonObject, field: string): readonly string[] {
  return asArray(row[field]).filter((entry) => typeof entry === 'string');
}
