import { type Operator, refusal } from '../operator.js';
import { createNotFound, requireName } from '../rules.js';
import { removeView, type SavedView, storeView } from './saved-views-sql.js';

/** The maximum number of views of one operator. */
const MAX_VIEWS = 50;

interface Owner {
  readonly personId: number;
}

/** Saves a list with its filters under a name. Only the operator sees it, so the audit log does not record it. */
export async function saveView(
  { database }: Operator,
  { name, address }: { readonly name: string; readonly address: string },
  { personId }: Owner,
): Promise<SavedView> {
  const view = await storeView(database, personId, requireName('the name', name), address, MAX_VIEWS);
  if (!view) throw refusal('too-many')`${'the saved views'} may be at most ${MAX_VIEWS}, not ${MAX_VIEWS + 1}`;
  return view;
}

export async function deleteView(
  { database }: Operator,
  { viewId }: { readonly viewId: string },
  { personId }: Owner,
): Promise<{ readonly viewId: string }> {
  const isNumber = /^[1-9]\d{0,14}$/.test(viewId);
  if (!isNumber || !(await removeView(database, personId, Number(viewId)))) throw createNotFound('view', viewId);
  return { viewId };
}
