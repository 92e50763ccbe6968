import type { Json, JsonObject } from './json.ts';

type GuardrailSeed = { readonly name: string; readonly description: string; readonly input: JsonObject; readonly output: JsonObject };
type MaskingSeed = {
  readonly name: string;
  readonly description: string;
  readonly supported: readonly Json[];
  readonly custom: readonly Json[];
  readonly score: number;
};
type AccessRuleSeed = {
  readonly name: string;
  readonly description: string;
  readonly accessType: string;
  readonly accessMaxDuration: number;
};

/** A protection profile: the rules that the gateway makes, and manages itself, when an organisation turns it on. */
export type Profile = {
  readonly title: string;
  readonly guardrails: readonly GuardrailSeed[];
  readonly maskings: readonly MaskingSeed[];
  readonly accessRules: readonly AccessRuleSeed[];
};

const unsafeWrites: GuardrailSeed = {
  name: 'Hoop - Unsafe update and delete',
  description: 'Blocks UPDATE or DELETE statements that have no WHERE clause.',
  input: {
    rules: [
      {
        type: 'pattern_match',
        words: [],
        pattern_regex: String.raw`(?is)^\s*(?:update|delete)\b(?:\s+(?:[^\s;wW][^\s;]*|[wW](?:[^\s;hH][^\s;]*)?|[wW][hH](?:[^\s;eE][^\s;]*)?|[wW][hH][eE](?:[^\s;rR][^\s;]*)?|[wW][hH][eE][rR](?:[^\s;eE][^\s;]*)?|[wW][hH][eE][rR][eE][^\s;]+))*\s*;?\s*$`,
        message: 'UPDATE and DELETE need a WHERE clause on this connection.',
      },
    ],
  },
  output: { rules: [] },
};

const apiKeys: MaskingSeed = {
  name: 'Hoop - API Keys',
  description: 'Masks API Keys only. High threshold keeps false positives near zero.',
  supported: [],
  custom: [{ name: 'API_KEY', regex: String.raw`\b(sk|pk|rk)_(live|test|prod)_[A-Za-z0-9]{16,}\b`, deny_list: null, score: 0.9 }],
  score: 0.85,
};

const personalData: MaskingSeed = {
  name: 'Hoop - Confidential data',
  description: 'Masks personal data.',
  supported: [{ name: 'PII', entity_types: ['EMAIL_ADDRESS', 'PHONE_NUMBER'] }],
  custom: [],
  score: 0.6,
};

const shortAccess: AccessRuleSeed = {
  name: 'Hoop-JIT_4_hours',
  description: 'Just-in-time access of four hours.',
  accessType: 'jit',
  accessMaxDuration: 14_400,
};

/** The profiles by their ids. The first one was recorded; the others have only the same kinds of rules. */
export const profiles: Readonly<Record<string, Profile>> = {
  'protection-permissive': { title: 'Essential Guardrails', guardrails: [unsafeWrites], maskings: [apiKeys], accessRules: [] },
  'protection-medium': { title: 'Medium', guardrails: [unsafeWrites], maskings: [apiKeys, personalData], accessRules: [] },
  'protection-high': { title: 'High', guardrails: [unsafeWrites], maskings: [personalData], accessRules: [shortAccess] },
  'hipaa-ready': { title: 'HIPAA Ready', guardrails: [unsafeWrites], maskings: [personalData], accessRules: [shortAccess] },
  'soc2-type2': { title: 'SOC 2 Type 2', guardrails: [unsafeWrites], maskings: [apiKeys, personalData], accessRules: [shortAccess] },
};
