import { columns, declareList, type RowOf } from '../../platform/db/database.js';
import { declareFind, declareHas, type Query } from '../../platform/db/declared.js';

export type SavedView = RowOf<typeof VIEW_COLUMNS>;

const VIEW_FIELDS = 'v.view_id::text as "viewId", v.name, v.address';
const VIEW_COLUMNS = columns({ viewId: 'text', name: 'text', address: 'text' });

/** Returns an operator's views, sorted by name. */
export const listViews: Query<[personId: number], SavedView[]> = declareList({
  text: `select ${VIEW_FIELDS} from saved_views v where v.person_id = $1 order by v.name`,
  parameters: ['bigint'],
  columns: VIEW_COLUMNS,
});

/** Stores a view, or replaces the view with the same name. Returns undefined if the operator has `most` other views. */
export const storeView: Query<[personId: number, name: string, address: string, most: number], SavedView | undefined> =
  declareFind({
    text: `insert into saved_views as v (person_id, name, address)
     select $1, $2, $3 where (select count(*) from saved_views o where o.person_id = $1 and o.name <> $2) < $4
     on conflict (person_id, name) do update set address = excluded.address returning ${VIEW_FIELDS}`,
    parameters: ['bigint', 'text', 'text', 'bigint'],
    columns: VIEW_COLUMNS,
  });

/** Returns false if the operator has no such view. */
export const removeView: Query<[personId: number, viewId: number], boolean> = declareHas({
  text: 'delete from saved_views where person_id = $1 and view_id = $2 returning 1',
  parameters: ['bigint', 'bigint'],
});
