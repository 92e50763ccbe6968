/** What the answers to one command's read of a gateway need in memory together: a share for each list. */
export type MemoryBudget = {
  readonly share: () => MemoryShare;
};

export type MemoryShare = {
  /** Takes the memory that the value of a JSON text will need; returns whether the budget has it. */
  readonly take: (text: string) => boolean;
  /** Takes what objects made from that many rows of the values will need, as far as the values themselves need less. */
  readonly takeRows: (count: number) => boolean;
  /** Returns to the budget what was taken: the values are no longer used. */
  readonly release: () => void;
};

/** The memory in bytes that one answer, or all lists that are read together, may need once parsed: that of about 120,000 connections with four secrets each. */
export const largestMemory: number = 512 * 1024 * 1024;

/** Measured: no value needs more than 38 bytes for each character of its text; lists of `{"32":0}` do. */
const mostPerCharacter = 40;

/** Measured: a row with nothing but an ID and a name becomes a live object, keys of maps and entries of lists. */
const bytesPerRow = 1500;

type Share = { bytes: number; texts: string[]; characters: number; rows: number };

/** Makes a budget of `largestMemory`. Texts that surely need less are kept, and counted only when more follow: counting takes time. */
export function createMemoryBudget(): MemoryBudget {
  const shares: Share[] = [];

  function fits(): boolean {
    return shares.reduce((sum, share) => sum + mostOf(share), 0) <= largestMemory;
  }

  function fitsOnceCounted(): boolean {
    if (fits()) return true;
    for (const share of shares) countTexts(share);
    return fits();
  }

  return {
    share() {
      const share: Share = { bytes: 0, texts: [], characters: 0, rows: 0 };
      shares.push(share);
      return {
        take(text) {
          share.texts.push(text);
          share.characters += text.length;
          return fitsOnceCounted();
        },
        takeRows(count) {
          share.rows += count;
          return fitsOnceCounted();
        },
        release() {
          Object.assign(share, { bytes: 0, texts: [], characters: 0, rows: 0 });
        },
      };
    },
  };
}

function mostOf({ bytes, characters, rows }: Share): number {
  return Math.max(bytes + characters * mostPerCharacter, rows * bytesPerRow);
}

function countTexts(share: Share): void {
  for (const text of share.texts) share.bytes += memoryOf(text);
  share.texts = [];
  share.characters = 0;
}

/**
 * The bytes that each part of a JSON text needs beside its characters. `memory.test.ts` compares them with the heap: V8 keeps objects
 * whose keys differ as hash tables, or makes a map for each; a key such as `32` reserves as many places.
 */
const needs = { string: 12, key: 24, newKey: 80, indexKey: 220, object: 64, list: 60, comma: 20 };

/** The lists of keys that are remembered. */
const knownShapes = 16_384;

const [quote, backslash, comma, colon, zero] = [34, 92, 44, 58, 48];
const [openList, openObject, closeObject] = [91, 123, 125];

/** Returns how many bytes the value of a JSON text needs at most; beyond `largestMemory`, a part of them. */
export function memoryOf(text: string): number {
  const shapes = new Int32Array(knownShapes);
  const outer: number[] = [];
  let bytes = 0;
  /** All code units of strings, joined by or: more than 255 where a string may need two bytes for each. */
  let units = 0;
  /** The hash of the last string, and where it begins. */
  let hash = 0;
  let start = 0;
  /** The hash and the number of the object's keys so far. */
  let shape = 0;
  let keys = 0;
  for (let index = 0; index < text.length; index += 1) {
    let unit = text.charCodeAt(index);
    if (unit === quote) {
      bytes += needs.string;
      hash = 0;
      start = index + 1;
      for (index += 1; index < text.length; index += 1) {
        unit = text.charCodeAt(index);
        if (unit === quote) break;
        units |= unit;
        hash = Math.imul(hash ^ unit, 0x01_00_01_93);
        if (unit === backslash) {
          index += 1;
          hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
        }
      }
    } else if (unit === comma) bytes += needs.comma;
    else if (unit === colon) {
      const first = text.charCodeAt(start);
      bytes += first >= zero && first < colon ? needs.key + needs.indexKey : needs.key;
      shape = Math.imul(shape ^ hash, 0x5b_d1_e9_95);
      shape ^= shape >>> 15;
      keys += 1;
    } else if (unit === openList) bytes += needs.list;
    else if (unit === openObject) {
      if (bytes > largestMemory) break;
      bytes += needs.object;
      outer.push(shape, keys);
      shape = 0;
      keys = 0;
    } else if (unit === closeObject) {
      const known = shape ^ keys;
      const place = known & (knownShapes - 1);
      if (shapes[place] !== known) bytes += needs.newKey * keys;
      shapes[place] = known;
      keys = outer.pop() ?? 0;
      shape = outer.pop() ?? 0;
    }
  }
  return bytes + text.length * (units > 0xff ? 2 : 1);
}
