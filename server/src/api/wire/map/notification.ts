/** Notifications and deliveries between host and wire. */
import { AppError } from '../../../base/errors.js';
import type * as host from '../../../runtime/notifications/notification-types.js';
import type * as wire from '../models/notification.js';
import { membersOf, refuseUnknown } from './body-members.js';
import { checkedName, checkedPathName } from './name.js';
import { toWireTime, toWireTimeOrNull } from './time.js';

const MEMBERS = membersOf<wire.NotificationRequest>({
  url: true,
  on: true,
  definitionId: true,
  where: true,
  secret: true,
  include: true,
});
const NAME_LENGTH_MAX = 200;

/** @throws AppError `invalid_request` */
export function checkedNotificationName(name: string): string {
  return checkedPathName(name, 'name of the notification', NAME_LENGTH_MAX);
}

/** @throws AppError `invalid_request` */
export function toNotificationRequest(
  body: wire.NotificationRequest,
  actor: string,
): host.NotificationRequest {
  refuseUnknown(body, MEMBERS, '');
  const { definitionId, include = 'summary', on, secret, url, where = [] } = body;
  return {
    url: checkedUrl(url),
    on: [...new Set(on)],
    definitionId:
      definitionId === undefined || definitionId === ''
        ? null
        : checkedName(definitionId, 'definitionId'),
    where: typeof where === 'string' ? [where] : where,
    include,
    secret: secret ?? null,
    actor,
  };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw invalid('url must be an address that begins with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('url must not contain a user name or a password: lists show it');
  }
  return text;
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}

export function toNotification(view: host.NotificationView): wire.Notification {
  const { changedAt, changedBy, definitionId, include, name, on, paused, url, where } = view;
  return {
    name,
    url,
    on: [...on],
    definitionId,
    where: [...where],
    include,
    paused: paused !== null,
    pausedBecause: paused,
    changedBy,
    changedTime: toWireTime(changedAt),
  };
}

export function toDelivery(view: host.DeliveryView): wire.Delivery {
  const { attempts, createdAt, endedAt, id, lastAnswer, nextAttemptAt, state } = view;
  return {
    id,
    type: view.type,
    workflowId: view.workflowId,
    state,
    attempts,
    createdTime: toWireTime(createdAt),
    nextAttemptTime: toWireTimeOrNull(nextAttemptAt),
    endTime: toWireTimeOrNull(endedAt),
    lastAnswer: lastAnswer === null ? null : { ...lastAnswer, time: toWireTime(lastAnswer.time) },
  };
}
