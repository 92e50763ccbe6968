/** The messages of the section "Manifests: names and attachments". */
export const nameCodes = {
  'defaults/duplicate': {
    meaning: 'A `_defaults.yaml` has more than one document',
    cause: 'Two files were joined',
    fix: 'Move all fields into one document',
    example: 'more than one Defaults in one file',
  },
  'defaults/misplaced': {
    meaning: 'Defaults are in a file where Ostiary does not read them, or a `_defaults.yaml` has another kind',
    cause: 'The file name has a typo, the file begins without `kind: Defaults`, or it is among the overlays',
    fix: 'Name the file `_defaults.yaml` and begin it with `apiVersion: ostiary/v1` and `kind: Defaults`',
    example: 'Ostiary reads Defaults only from _defaults.yaml',
  },
  'defaults/removed': {
    level: 'notice',
    meaning: 'Objects had fields of a `_defaults.yaml`, and nothing states these fields now',
    cause: 'The file or the entry was removed, or the manifests moved out of its folder',
    fix: 'Nothing if that is intended; otherwise state the fields in the defaults or in each manifest',
    example: '4f1c22d0a7:access/prod/_defaults.yaml stated reviewers (line 5) for Connection/orders-db and 11 more; nothing states it now',
  },
  'defaults/secret': {
    meaning: 'A `_defaults.yaml` states a secret',
    cause: 'Secrets belong to one object',
    fix: 'State the secret in each manifest',
    example: '"secret" cannot have a default',
  },
  'manifest/blank-end': {
    level: 'warning',
    meaning: 'A text that decides something begins or ends with a blank or a line break',
    cause:
      'A block scalar (`|`) keeps its last line break, or a blank was copied with the text; a pattern or word with it matches nothing on one line',
    fix: 'Remove it; after a `|`, write `|-` instead. If it is meant, say so with a comment `# ostiary:ok`',
    example: '"(?i)drop table\\n" ends with a line break, which is a part of it',
  },
  'manifest/look-alike': {
    level: 'warning',
    meaning: 'A name looks like another one, and is made of other characters',
    cause: 'It has separate accents (not NFC), an invisible character, or letters of another script; gateways compare bytes',
    fix: 'Write the name with composed letters of one script',
    example: '"équipe" has letters with separate accents (not NFC), and another text looks the same',
  },
  'manifest/masked-text': {
    level: 'warning',
    meaning: 'A value is masked text of a log, or a reference of another secret manager',
    cause: 'It was copied from an output that masks it, or from a tool that resolves such references',
    fix: 'Write the value itself',
    example: '"***" looks like masked text of a log or a plan: it is sent as it is',
  },
  'manifest/ambiguous-reference': {
    meaning: 'The gateway has several objects of this name',
    cause: 'Names of this kind are not unique on the gateway',
    fix: 'Use the ID instead of the name',
    example:
      'the gateway has 2 agents named "twin" use the ID instead: 00000000-0000-4000-8000-000000000002, 00000000-0000-4000-8000-000000000003',
  },
  'manifest/dangling-reference': {
    meaning: 'The object does not exist, neither in the manifests nor on the gateway',
    cause: 'The name has a typo, or the object was deleted',
    fix: 'Correct the name, or add a manifest',
    example: 'unknown agent "prod-agnet" on the gateway',
  },
  'manifest/deferred-reference': {
    level: 'notice',
    meaning: '`validate` cannot check a name that no manifest declares',
    cause: 'Only the gateway has the object; it is a warning if the name is similar to one of the manifests',
    fix: 'Run `plan` to look it up; or correct the name',
    example: 'no manifest declares Agent "main"; it must exist on the gateway',
  },
  'manifest/duplicate-name': {
    meaning: 'Two manifests declare the same object',
    cause: 'A file was copied, or two branches were merged',
    fix: 'Keep one of them',
    example: 'duplicate manifest Connection/orders-db',
  },
  'manifest/selector-contradiction': {
    meaning: 'A connection is both listed and excepted',
    cause:
      'The list and `except` name the same connection; it is a warning if the connection lists the rule, because then the rule applies',
    fix: 'Remove it from one of the two',
    example: '"orders-db" is in connection_ids and in except of connection_selector',
  },
  'manifest/selector-empty': {
    meaning: 'A selector matches no connection',
    cause: 'The tags have a typo, or no connection has them yet',
    fix: 'Correct the tags, or set `allow_empty: true`',
    example: 'no Connection manifest has these tags',
  },
  'manifest/selector-ignored-tag': {
    meaning: 'A selector uses a tag that a connection ignores',
    cause: 'The connection has the tag in `metadata.ignore`, so its value can change outside Ostiary',
    fix: 'Remove the tag from `ignore`, or add the connection to `except`',
    example: 'the selector requires the tag "env", which Connection/orders-db ignores',
  },
  'manifest/unknown-name': {
    meaning: '`except` names a connection that has no manifest',
    cause: 'The name has a typo, or the manifest was removed',
    fix: 'Correct it',
    example: '"orders-bd" has no manifest',
  },
  'manifest/unknown-selection': {
    meaning: 'A selection flag matches no manifest of the target',
    cause: 'The value of `--only`, `--tag` or `--exclude` has a typo',
    fix: 'Write `KIND/NAME` as the plan prints it, a pattern, or `KEY=VALUE` of a tag',
    example: '--only: no manifest of this target matches "Connection/orders-bd"',
  },
  'overlay/duplicate': {
    meaning: 'Two overlays of one folder are for the same object',
    cause: 'A file was copied',
    fix: 'Keep one of them',
    example: 'duplicate manifest Connection/orders-db',
  },
  'overlay/loses-protection': {
    level: 'warning',
    meaning: 'An overlay removes a protection',
    cause: 'A list in an overlay replaces the list of the manifest',
    fix: 'Repeat the entries that you want to keep',
    example: 'the overlay removes "dba-team" from reviewers',
  },
  'overlay/no-manifest': {
    meaning: 'An overlay has no manifest below it',
    cause: 'The kind or the name has a typo',
    fix: 'Correct the kind and the name, or add the manifest',
    example: 'the overlay of Connection/orders-bd has no manifest',
  },
} as const;
