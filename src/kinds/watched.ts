import aiAgent from '../../schemas/watched/ai-agent.schema.json' with { type: 'json' };
import analyzerRule from '../../schemas/watched/analyzer-rule.schema.json' with { type: 'json' };
import apiKey from '../../schemas/watched/api-key.schema.json' with { type: 'json' };
import authSetting from '../../schemas/watched/auth-setting.schema.json' with { type: 'json' };
import featureFlag from '../../schemas/watched/feature-flag.schema.json' with { type: 'json' };
import federation from '../../schemas/watched/federation.schema.json' with { type: 'json' };
import machineIdentity from '../../schemas/watched/machine-identity.schema.json' with { type: 'json' };
import organizationSetting from '../../schemas/watched/organization-setting.schema.json' with { type: 'json' };
import rulepack from '../../schemas/watched/rulepack.schema.json' with { type: 'json' };
import serviceAccount from '../../schemas/watched/service-account.schema.json' with { type: 'json' };
import spiffeMapping from '../../schemas/watched/spiffe-mapping.schema.json' with { type: 'json' };
import user from '../../schemas/watched/user.schema.json' with { type: 'json' };
import type { Registry } from '../model/kind.ts';
import { registry } from './index.ts';
import { ruleKind } from './rule-kind.ts';

/** The kinds of objects that decide access and that no manifest declares, by name: they are read and recorded, and never written. */
export const watchedKinds: Registry = new Map(
  [
    rulepack,
    analyzerRule,
    machineIdentity,
    featureFlag,
    federation,
    user,
    apiKey,
    aiAgent,
    serviceAccount,
    spiffeMapping,
    authSetting,
    organizationSetting,
  ].map((schema) => [schema.title, ruleKind(schema.title, schema, { renamable: false })]),
);

/** All kinds that a plan reads, by name. */
export const readableKinds: Registry = new Map([...registry, ...watchedKinds]);
