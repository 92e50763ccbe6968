import type { JsonObject } from '../model/json.ts';
import type {
  ControlChange,
  RuleEffect,
  Cause,
  PostureChange,
  Protection,
  Impact,
  ConnectionRule,
} from '../model/protection/protection.ts';
import { flipObject } from './wording/flips.ts';

/** What a plan means for connections as the JSON value that the plan's schema describes. */
export function protectionObject({ headlines, connections, losing, reach, flips }: Protection): JsonObject {
  return {
    headlines: headlines.map(({ causes, ...headline }) => ({ ...headline, causes: causes.map(causeObject) })),
    connections: connections.map(postureObject),
    losing,
    ...(reach === undefined ? {} : { reach: reach.map(reachObject) }),
    ...(flips === undefined ? {} : { flips: flips.map(flipObject) }),
  };
}

function postureObject({ connection, way, comes, goes, tags, aspects, rules }: PostureChange): JsonObject {
  return {
    connection,
    way,
    ...(comes === undefined ? {} : { comes }),
    ...(goes === undefined ? {} : { goes }),
    tags,
    aspects: aspects.map(aspectObject),
    ...(rules === undefined ? {} : { rules: rules.map(ruleOnObject) }),
  };
}

function aspectObject({ aspect, way, before, after, atLeast, causes }: ControlChange): JsonObject {
  return { aspect, way, before, after, ...(atLeast === undefined ? {} : { atLeast }), causes: causes.map(causeObject) };
}

function causeObject({ by, path, edge, place, byHand }: Cause): JsonObject {
  return {
    by,
    ...(path === undefined ? {} : { path }),
    ...(edge === undefined ? {} : { edge }),
    ...(place === undefined ? {} : { place }),
    ...(byHand === undefined ? {} : { byHand }),
  };
}

function reachObject({ by, path, edges, way, places, byHand, connections, tags }: Impact): JsonObject {
  return {
    ...(by === undefined ? {} : { by }),
    ...(path === undefined ? {} : { path }),
    ...(edges === undefined ? {} : { edges }),
    way,
    places,
    ...(byHand === undefined ? {} : { byHand }),
    connections,
    tags: tags.map((one) => ({ tag: one.tag, connections: one.connections })),
  };
}

/** A rule on a connection as data. */
export function ruleOnObject({ rule, before, after }: ConnectionRule): JsonObject {
  return {
    rule,
    ...(before === undefined ? {} : { before: attachedObject(before) }),
    ...(after === undefined ? {} : { after: attachedObject(after) }),
  };
}

function attachedObject({ aspects, by }: RuleEffect): JsonObject {
  return {
    aspects,
    by: by.map(({ how, attribute, place }) => ({
      how,
      ...(attribute === undefined ? {} : { attribute }),
      ...(place === undefined ? {} : { place }),
    })),
  };
}
