import { ApiError } from '../../model/errors.ts';

/** Sends a write. Where its response was lost, returns what the search finds of it; throws the failure where it finds nothing, or fails too. */
export async function settleLost<T>(send: () => Promise<T>, search: () => Promise<T | undefined>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiError) || !error.failure.ambiguous || error.failure.code === 'api/aborted') throw error;
    const found = await lookAfterLostResponse(error, search);
    if (found === undefined) throw error;
    return found;
  }
}

/** Searches for the result of a write whose response was lost; where the search fails too, throws the first failure. */
export async function lookAfterLostResponse<T>(first: ApiError, search: () => Promise<T>): Promise<T> {
  try {
    return await search();
  } catch (error) {
    if (error instanceof ApiError) throw first;
    throw error;
  }
}
