import { createCipher } from './cipher.ts';
import { openDatabase, type OpenOptions } from './database.ts';
import { parsePreviousKeys } from '../encryption-key.ts';
import { registerEncryptionKey } from './encryption-keys.ts';
import { migrate } from './migrations.ts';
import type { Store } from '../objects/object-reader.ts';

export type StoreOptions = OpenOptions & {
  /** Keys that secrets may still be sealed with, separated by commas. */
  readonly previousEncryptionKeys?: string | undefined;
  readonly now: () => Date;
};

export type OpenStore = { readonly store: Store; readonly close: () => Promise<void> };

/** Opens the database in the shape of this version, with keys that open all of its secrets. */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const earlier = parsePreviousKeys(options.previousEncryptionKeys ?? '');
  const { db, encryptionKey, close } = await openDatabase(options);
  try {
    const cipher = createCipher(encryptionKey, earlier);
    await migrate(db);
    await registerEncryptionKey(db, cipher, options.now());
    return { store: { db, cipher, now: options.now }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
