import { createCipher } from './cipher.ts';
import { openDatabase, type OpenOptions } from './database.ts';
import { parseEarlierKeys } from './encryption-key.ts';
import { claimDatabase } from './key-claim.ts';
import { migrate } from './migrations.ts';
import type { Store } from './reader.ts';

export type StoreOptions = OpenOptions & {
  /** Keys that secrets may still be sealed with, separated by commas. */
  readonly previousEncryptionKeys?: string | undefined;
  readonly now: () => Date;
};

export type OpenStore = { readonly store: Store; readonly close: () => Promise<void> };

/** Opens the database in the shape of this version, with keys that open all of its secrets. */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const earlier = parseEarlierKeys(options.previousEncryptionKeys ?? '');
  const { db, encryptionKey, close } = await openDatabase(options);
  try {
    const cipher = createCipher(encryptionKey, earlier);
    await migrate(db);
    await claimDatabase(db, cipher, options.now());
    return { store: { db, cipher, now: options.now }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
