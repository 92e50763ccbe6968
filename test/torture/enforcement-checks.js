/** The safety checks of what sessions enforce, in the form of `checks`. */
const compare = 'protection/controls/compare-controls.ts';
const levels = 'protection/controls/enforcement.ts';
const table = ['unit/protection/enforcement.test.ts: native sessions of'];
const plans = ['hoop/enforcement.test.ts: plans say where the gateway enforces a rule'];
const answers = ['hoop/enforcement.test.ts: can, access tests and policies answer by the same table'];

export const enforcementChecks = [
  [
    'a rule that no session checks strengthens nothing',
    compare,
    "if (was === 'all' && is === 'all') return { ...noDifference, unenforced: differing };",
    "if (was === 'all' && is === 'all') return found;",
    plans,
  ],
  [
    'sessions that check nothing let everything pass',
    compare,
    "if (level === 'unchecked' || controls.length === 0) return 'all';",
    "if (controls.length === 0) return 'all';",
    plans,
  ],
  [
    'sessions of which no source says what they check are unclear',
    compare,
    "return level === 'unclear' ? 'unclear' : 'rest';",
    "return level === 'unclear' ? 'rest' : 'rest';",
    ['hoop/enforcement.test.ts: an older gateway enforces less'],
  ],
  [
    'sessions that check less than before lose what they checked',
    compare,
    'if (isAsLoose === true) return compareSets(had, [], rule);',
    'if (isAsLoose === true) return found;',
    ['unit/protection/enforced-controls.test.ts'],
  ],
  [
    'what one way to use a connection certainly gains, another one that enforces otherwise may lose',
    compare,
    '!isAlike || !certain.has(one)',
    '!certain.has(one)',
    ['unit/protection/enforced-controls.test.ts'],
  ],
  ['a flag that is off enforces nothing', levels, 'found === isOn', 'found !== undefined', table],
  ['a flag that is not known is unclear', levels, 'return found === undefined ? undefined :', 'return found === undefined ? isOn :', table],
  ['an older gateway enforces less', levels, 'index >= 0 && (own[index] ?? 0) < (other[index] ?? 0)', 'false', table],
  [
    'a version without numbers is not known',
    levels,
    'if (own === undefined || other === undefined) return undefined;',
    'if (own === undefined || other === undefined) return false;',
    table,
  ],
  [
    'a rule counts only where sessions certainly check it',
    'protection/controls/control-row.ts',
    '.every(isChecked) ? controls : none',
    '.every(isChecked) ? controls : controls',
    answers,
  ],
  [
    'a text is blocked only by sessions that certainly check it',
    'protection/permission/check-expectation.ts',
    "if (!levelsOf(posture.enforcement, 'input', verb).every(isChecked)) return false;",
    '',
    answers,
  ],
  [
    'a policy about what may not be enforced cannot be evaluated',
    'protection/policy/subject.ts',
    'if (isUnclear) throw',
    'if (isUnclear && false) throw',
    ['hoop/enforcement.test.ts: a policy about a rule'],
  ],
];
