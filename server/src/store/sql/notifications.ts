/** Notifications and their deliveries. */
import type {
  DeliveryRecord,
  DeliverySummary,
  NotificationRecord,
} from '../records/notifications.js';
import { columnsOf, namesOf, readRecord, type RecordColumns } from './columns.js';
import { change, insert, removeSome, select, selectOne, type SqlOperations } from './statements.js';
import type { StoredRow } from './stored-row.js';

const NOTIFICATION: RecordColumns<NotificationRecord> = {
  name: 'text',
  settings: 'text',
  paused: 'text?',
};

const SUMMARY: RecordColumns<DeliverySummary> = {
  id: 'text',
  notification: 'text',
  workflowId: 'text?',
  type: 'text',
  createdAt: 'number',
  state: 'text',
  attempts: 'number',
  dueAt: 'number',
  since: 'number',
  endedAt: 'number?',
  answer: 'text?',
};

const DELIVERY: RecordColumns<DeliveryRecord> = { ...SUMMARY, body: 'text' };

const SUMMARY_NAMES = namesOf(SUMMARY);

export const NOTIFICATION_COLUMNS = columnsOf(NOTIFICATION);
export const DELIVERY_COLUMNS = columnsOf(DELIVERY);

export const NOTIFICATION_OPERATIONS = {
  // Unlike resources and triggers, notifications are stored without a revision: the last writer wins.
  *putNotification([notification]) {
    const update = 'DO UPDATE SET paused = excluded.paused, settings = excluded.settings';
    const ending = `ON CONFLICT (name) ${update}`;
    yield* insert('notifications', NOTIFICATION_COLUMNS, notification, ending);
  },

  *listNotifications([limit]) {
    const rows = yield* select('SELECT * FROM @notifications ORDER BY name LIMIT ?', limit);
    return rows.map(notificationOf);
  },

  *pauseNotification([name, paused]) {
    const text = 'UPDATE @notifications SET paused = ? WHERE name = ?';
    return (yield* change(text, paused, name)) > 0;
  },

  *removeNotification([name]) {
    return (yield* change('DELETE FROM @notifications WHERE name = ?', name)) > 0;
  },

  *saveDelivery([{ answer, attempts, dueAt, endedAt, id, state }]) {
    const text = `UPDATE @deliveries SET state = ?, dueAt = ?, endedAt = ?, answer = ?
                   WHERE id = ? AND attempts = ? AND state = 'waiting'`;
    return (yield* change(text, state, dueAt, endedAt, answer, id, attempts)) > 0;
  },

  *redeliver([notification, id, at]) {
    const text = `UPDATE @deliveries SET state = 'waiting', dueAt = ?, since = ?, endedAt = NULL
                   WHERE id = ? AND notification = ? RETURNING ${SUMMARY_NAMES}`;
    const row = yield* selectOne(text, at, at, id, notification);
    return row === null ? null : summaryOf(row);
  },

  *getDelivery([id]) {
    const row = yield* selectOne('SELECT * FROM @deliveries WHERE id = ?', id);
    return row === null ? null : deliveryOf(row);
  },

  *listDeliveries([{ notification, state }, after, limit]) {
    const isOfState = state === undefined ? '' : 'AND state = ?';
    const isBeyond = after === null ? '' : 'AND (createdAt, id) < (?, ?)';
    const rows = yield* select(
      `SELECT ${SUMMARY_NAMES} FROM @deliveries WHERE notification = ? ${isOfState} ${isBeyond}
        ORDER BY createdAt DESC, id DESC LIMIT ?`,
      notification,
      ...(state === undefined ? [] : [state]),
      ...(after === null ? [] : [after.time, after.id]),
      limit,
    );
    return rows.map(summaryOf);
  },

  *removeDeliveries([notification, limit]) {
    return yield* removeSome('deliveries', 'WHERE notification = ? LIMIT ?', notification, limit);
  },

  *purgeDeliveries([endedBefore, limit]) {
    const text = 'WHERE endedAt < ? ORDER BY endedAt, id LIMIT ?';
    return yield* removeSome('deliveries', text, endedBefore, limit);
  },
} satisfies SqlOperations;

export function notificationOf(row: StoredRow): NotificationRecord {
  return readRecord(row, NOTIFICATION);
}

export function deliveryOf(row: StoredRow): DeliveryRecord {
  return readRecord(row, DELIVERY);
}

function summaryOf(row: StoredRow): DeliverySummary {
  return readRecord(row, SUMMARY);
}
