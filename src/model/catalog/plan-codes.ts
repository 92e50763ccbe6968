/** The messages of the section "Planning". */
export const planCodes = {
  'plan/accepted-drift': {
    level: 'warning',
    meaning: 'The manifests accept a change of the gateway that is not safe',
    cause: 'The gateway was changed outside Ostiary, and the manifests now say the same; apply writes nothing for it',
    fix: 'Check that the change is intended; to undo it, restore the manifest and apply',
    example:
      'Connection/orders-db: the manifests accept drift: weakens (review-weakened); accepted by this pull request; changed outside Ostiary by ada, 2026-11-20 03:12 UTC',
  },
  'plan/access-control-on': {
    level: 'refusal',
    meaning: 'The plan switches on access control for the whole gateway',
    cause: 'Manifests state `access_groups`, and the gateway does not restrict access yet; its API cannot switch access control off again',
    fix: 'State `access_groups` for the listed connections, or override',
    example:
      'access control is off, and access_groups switch it on for the whole gateway: only admins see 1 connection without access_groups: sales-db',
  },
  'plan/access-test': {
    level: 'refusal',
    meaning: 'After the plan, an access test would fail, or could not be decided',
    cause: 'The plan gives a group more access, or less protection, than the test expects',
    fix: 'Change what the hint names; or override it: `--allow plan/access-test=REASON`',
    example: 'contractors on env=prod: denied, but on orders-db: exec allowed',
  },
  'plan/access-test-failing': {
    level: 'warning',
    meaning: 'An access test fails already, and still fails after the plan',
    cause: 'Something without a manifest decides it, or an earlier apply was allowed',
    fix: 'Change what the hint names, or the test',
    example: 'contractors on env=prod: denied, but on orders-db: exec allowed',
  },
  'plan/adoption': {
    level: 'refusal',
    meaning: 'A live object would be changed for the first time',
    cause:
      'An object of this name is live, was never applied by Ostiary, and differs from its manifest; or `renamedFrom` or `replaces` names an object that was never applied',
    fix: 'Review the changes; then set `metadata.adopt: true`, or pass `--import KIND/NAME`',
    example: 'it is live, was never applied by Ostiary, and differs from its manifest',
  },
  'plan/allow-unused': {
    level: 'notice',
    meaning: 'An `--allow` has no effect',
    cause: 'The plan has no such refusal, or it cannot be overridden',
    fix: 'Remove it, or check the code',
    example: '--allow plan/window has no effect: the plan has no such refusal',
  },
  'plan/broken-file': {
    meaning: 'The file of `--plan` is not a complete saved plan',
    cause: 'It is not JSON, it is truncated, or it was changed',
    fix: 'Plan again with `--out`',
    example: 'invalid saved plan: it is empty',
  },
  'plan/creates-references': {
    level: 'warning',
    meaning: 'Objects that Ostiary does not write name a new connection already',
    cause:
      'A machine identity kept the credential of a deleted connection of that name; or, as a notice, a runbook rule or an access-request rule was written before the connection',
    fix: 'Remove the name on the gateway, unless it is meant for the new connection',
    example:
      'machine identity "ci" names the new Connection/orders-db already: its credential for a deleted connection of that name opens the new one',
  },
  'plan/deletes-references': {
    level: 'warning',
    meaning: 'Objects that Ostiary does not write keep naming a deleted connection',
    cause: 'The gateway leaves the name in access-request rules, runbook rules, session analyzer rules and machine identities',
    fix: 'Follow the hint; whatever stays applies to the next connection of that name',
    example:
      'machine identity "ci" keeps naming Connection/orders-db after the deletion, and its credential opens the next connection of that name',
  },
  'plan/edge-cannot-move': {
    meaning: 'An attachment cannot move to the object that replaces another',
    cause: 'The rule has no manifest, and a rule declares its own attachments',
    fix: 'Add a manifest for the rule first; `--keep-going` plans the rest',
    example: 'GuardrailRule/no-drop has no manifest, so its attachment cannot move to Connection/shop-db',
  },
  'plan/former-name-declared': {
    meaning: 'A former name cannot be used',
    cause: '`replaces` or `renamedFrom` names an object that still has a manifest, or that another manifest also replaces',
    fix: 'Remove that manifest, or remove the former name',
    example: 'GuardrailRule/no-destruction replaces GuardrailRule/no-drop, which still has a manifest',
  },
  'plan/held': {
    level: 'notice',
    meaning: 'Apply left a drift in place',
    cause: 'The gateway was made stricter outside Ostiary',
    fix: 'Accept it in the manifests, or undo it with `--revert KIND/NAME`',
    example: 'drift held: tightened outside Ostiary',
  },
  'plan/immutable-name': {
    level: 'refusal',
    meaning: 'A new object looks like a rename of an object that the gateway would keep',
    cause: 'The gateway cannot rename this kind, or the manifest does not state the former name, so both objects would exist',
    fix: 'Write `metadata.replaces` or `metadata.renamedFrom`, or restore the old name',
    example:
      'it looks like a rename of Connection/orders-db; names are immutable, so the gateway would have both: Connection/orders-db stays accessible, and its secrets are not copied',
  },
  'plan/deleted-outside': {
    level: 'warning',
    meaning: 'An object was deleted on the gateway, and its manifest keeps secrets that the gateway no longer has',
    cause: 'Ostiary cannot recreate it without values: it is drift, and plan and apply continue with the rest',
    fix: 'Remove the manifest, or set the listed secrets to recreate the object',
    example: 'Connection/orders-db was deleted outside Ostiary by ada; its manifest keeps 2 secrets: envvar:PASS, envvar:USER',
  },
  'plan/secret-deleted-outside': {
    level: 'warning',
    meaning: 'A manifest keeps a secret that an object of the gateway no longer has',
    cause: 'It was deleted on the gateway: it is drift, and plan and apply continue without it',
    fix: 'Remove it from the manifest, or set a value',
    example:
      'envvar:PASS of Connection/orders-db was deleted outside Ostiary, or never set; the manifest keeps it remove it from the manifest to accept that, or set a value ({ value: … } or { valueFrom: … })',
  },
  'plan/keep-missing': {
    meaning: 'A manifest declares `{ keep: true }`, but the gateway has no value',
    cause: 'The value was never set; `drift` and `pull` report it as a warning',
    fix: 'Set a value in the manifest, or set it on the gateway first',
    example:
      'Connection/orders-db declares keep for /secret/envvar:PASS, but the gateway has no value set a value ({ value: … } or { valueFrom: … }), or set it on the gateway first',
  },
  'plan/managed': {
    level: 'refusal',
    meaning: 'The plan would change an object of another manager',
    cause: 'The object has `managed_by`',
    fix: 'Change it there, remove it from the manifests, or pass `--on-managed skip`',
    example: 'managed by terraform',
  },
  'plan/moved': {
    level: 'refusal',
    meaning: 'An object changed since the saved plan',
    cause: 'It was changed, created or deleted outside Ostiary',
    fix: 'Plan again and review what changed',
    example: 'it changed since the plan: command',
  },
  'plan/needs-blocked': {
    meaning: 'An object is blocked because it depends on a blocked object',
    cause: '`--keep-going` plans the rest',
    fix: 'Resolve the error of the other object first',
    example: 'it needs Connection/orders-db, which is blocked',
  },
  'plan/needs-unselected': {
    meaning: 'An attachment needs an object that is not selected',
    cause:
      '`--only`, `--tag` or `--exclude` leaves out one of its two ends; it is a warning if an attachment stays that no manifest declares',
    fix: 'Select both ends',
    example:
      'the attachment of DataMaskingRule/contacts to Connection/orders-db is skipped: only DataMaskingRule/contacts can write it, and it is not selected select both',
  },
  'plan/other-dialect-field': {
    level: 'warning',
    meaning: 'The gateway does not have this field',
    cause: 'It is a field of another kind of gateway, so Ostiary does not send it',
    fix: 'Remove it, or limit the manifest with `metadata.targets`',
    example:
      'mandatory_metadata_fields is a field of hoop gateways; this gateway (interface) does not have it, so Ostiary does not send it',
  },
  'plan/continued': {
    level: 'notice',
    meaning: 'The apply continues an approved plan',
    cause: 'The apply of that plan was interrupted; what it wrote is live, and nothing else changed',
    fix: 'Nothing to do',
    example: 'an earlier run began the approved plan 5d41402abc4b: 3 of 4 changes are left',
  },
  'plan/other-dialect-kind': {
    meaning: 'The gateway has no objects of this kind',
    cause: 'It is a kind of other gateways',
    fix: 'Remove the manifest, or limit it with `metadata.targets`',
    example: 'AccessRequestRule is a kind of hoop gateways; this gateway (interface) does not have it',
  },
  'plan/namesakes': {
    meaning: 'Several live objects have the name of a manifest',
    cause: 'The gateway does not require unique names, and nothing says which object the manifest means',
    fix: 'Rename or delete all but one of them on the gateway',
    example:
      'the gateway has 2 objects RunbookRule/nightly: 5783238a-3aee-42a0-8112-6e37d0e244db, connections orders-db, user_groups dev; 5eca1f56-29c8-4400-a582-c83dd6100c8e, connections (none), user_groups (none)',
  },
  'plan/new-access': {
    level: 'refusal',
    meaning: 'After the plan, people could do more than before, or need less approval',
    cause:
      '`--no-new-access` or [`limits.new_access`](config.md) refuses what the gateway does not allow now, or did not allow after the last apply',
    fix: 'Undo the change; or override it: `--allow plan/new-access=REASON`',
    example: 'contractors: exec on orders-db: was no, will be yes without approval',
  },
  'plan/last-runbook-rule': {
    level: 'refusal',
    meaning: 'The plan deletes the last runbook rule of the gateway',
    cause: 'While a gateway has no runbook rule, everybody can run every runbook',
    fix: 'Keep a rule, close `access_mode_runbooks` first, or override',
    example: 'no runbook rule would be left, so everybody could run every runbook on every connection that they see',
  },
  'plan/unreadable-kind': {
    meaning: 'The objects of a kind that manifests declare cannot be listed',
    cause:
      'The role of the token may not, this version of the gateway does not have them, or the gateway failed; the message has its answer',
    fix: 'Use a key with the role `admin`, or `auditor` for read-only commands; update the gateway, or limit the manifests with `metadata.targets`',
    example:
      'the gateway does not list objects of the kind AccessRequestRule to this token, so nothing is known about AccessRequestRule/prod',
  },
  'plan/other-digest': {
    level: 'refusal',
    meaning: 'The plan is not the approved plan',
    cause: 'The manifests or the gateway changed since the approval',
    fix: 'Review this plan and pass its digest',
    example: 'no plan was approved, but this plan has changes: its digest is 5d41402abc4b',
  },
  'plan/other-manifests': {
    level: 'refusal',
    meaning: 'The manifests are not those of the saved plan',
    cause: 'Another commit is checked out',
    fix: 'Check out the planned commit, or plan again',
    example: 'the manifests changed since the plan (1f0c2d3e4a5b then, 9a8b7c6d5e4f now)',
  },
  'plan/other-repository': {
    level: 'refusal',
    meaning: 'The saved plan was made in another repository',
    cause: 'The file belongs to another project',
    fix: 'Run in a clone of that repository, or plan again',
    example: 'the plan was made in another repository, whose first commit is 3f2a9c1d04',
  },
  'plan/other-target': {
    level: 'refusal',
    meaning: 'The saved plan is for another target, gateway or user',
    cause: 'A flag, a URL or the token differs',
    fix: 'Check `--target`, `--url` and the token, or plan again',
    example: 'the plan is for production, but this is staging',
  },
  'plan/other-version': {
    level: 'refusal',
    meaning: 'Another version of Ostiary made the saved plan',
    cause: 'Ostiary was updated since',
    fix: 'Apply it with that version, or plan again',
    example: 'the plan was made by Ostiary 0.1.0, but this is 0.2.0',
  },
  'plan/refused': {
    level: 'refusal',
    meaning: 'Ostiary refuses the run',
    cause: 'The library throws an error with this code that contains the refusals',
    fix: 'Follow each refusal',
    example: 'the plan is refused',
  },
  'plan/replaces-references': {
    level: 'refusal',
    meaning: 'Objects that Ostiary does not write name a replaced connection',
    cause: 'Access-request rules, runbook rules, access control, machine identities or other objects refer to the old name',
    fix: 'Add the new name to them on the gateway: where it rejects a connection that does not exist yet, right after the apply',
    example:
      'access-request rule "prod-jit" and runbook rule "nightly" name Connection/orders-db, and do not move to shop-db; the token cannot see whether plugins name Connection/orders-db',
  },
  'plan/too-many-deletes': {
    level: 'refusal',
    meaning: 'The plan deletes more objects than the [limit](../how-to/read-a-plan.md#limits) allows',
    cause: 'A folder, a target or a flag is wrong, or the change is large',
    fix: 'Check that the plan is intended',
    example: '5 of 12 live objects would be deleted, more than the limit of 30 %',
  },
  'plan/too-many-lose-protection': {
    level: 'refusal',
    meaning: 'More connections would lose a protection than the [limit](../how-to/read-a-plan.md#limits) allows',
    cause: 'A shared rule was weakened or removed',
    fix: 'Check that the plan is intended',
    example: '4 of 12 live connections would lose a protection, more than the limit of 30 %',
  },
  'plan/too-many-updates': {
    level: 'refusal',
    meaning: 'The plan updates more objects than the [limit](../how-to/read-a-plan.md#limits) allows',
    cause: 'A shared value changed, or the target is wrong',
    fix: 'Check that the plan is intended',
    example: '4 of 10 live objects would be updated, more than the limit of 30 %',
  },
  'plan/unknown-group': {
    level: 'warning',
    meaning: 'An access test is about a group that neither the manifests nor the gateway know',
    cause: 'The name has a typo, so that the test checks nothing, or no user has the group yet',
    fix: 'Correct the name, or create the group',
    example: 'unknown group "contractrs" in access test production: neither the manifests nor the gateway name it',
  },
  'plan/unknown-name': {
    level: 'warning',
    meaning: '`--import` or `--revert` names an unknown object',
    cause: 'The name has a typo',
    fix: 'Check the name',
    example: '--import Connection/orders-bd has no effect: the object exists neither in the manifests nor on the gateway',
  },
  'plan/unreadable-file': {
    meaning: 'The file of `--plan` cannot be read',
    cause: 'The path is wrong, or the file is not readable',
    fix: 'Pass the file written by `ostiary plan --out`',
    example: 'the saved plan "plan.json" cannot be read: no such file or directory',
  },
  'plan/window': {
    level: 'refusal',
    meaning: 'Connections would be less protected for a [moment](../explanation/apply.md#the-order-of-writes)',
    cause: 'A rule cannot be written in two steps',
    fix: 'Apply one of the two changes first with `--only`',
    example:
      'it cannot be written in two steps, because the free license allows one entry of input rules, but there are 2: Connection/orders-db is less protected after GuardrailRule/no-drop removes input.rules.drop, and before Connection/orders-db adds reviewers.sre',
  },
  'plan/would-lose-secret': {
    level: 'refusal',
    meaning: 'An update would delete a secret that the token cannot see',
    cause: 'The token is not of an admin, and the manifest does not set every secret; for read-only commands it is a notice',
    fix: 'Use a key with the role admin, or set every secret in the manifest',
    example: 'Connection/shop-db replaces Connection/orders-db, whose /secret/envvar:PASSWORD this token cannot see',
  },
} as const;
