/**
 * Goal: all user data passes through exact-json.ts.
 * Method: lists the files that parse or write JSON in another way.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const SOURCES = new URL('../../src/', import.meta.url);
/** These read and write only data of the server itself, names, or single strings that are quoted. */
const OWN_JSON = [
  'api/access/provider-documents.ts',
  'api/controllers/schema.controller.ts',
  'api/http/api-document.ts',
  'api/http/json-position.ts',
  'api/http/yaml-reader.ts',
  'api/http/yaml-writer.ts',
  'api/wire/map/idempotency.ts',
  'api/wire/map/tags.ts',
  'backplane/hint-codec.ts',
  'backplane/postgres/hint-payloads.ts',
  'base/ids.ts',
  'base/thread-entry.ts',
  'base/version.ts',
  'cli/files/store-files.ts',
  'engine/definitions/foreign/dashed-field.ts',
  'engine/definitions/foreign/foreign-rules.ts',
  'engine/definitions/step-places.ts',
  'engine/definitions/typescript-module.ts',
  'engine/definitions/typescript-types.ts',
  'engine/flow/taken-events.ts',
  'engine/model/start-tags.ts',
  'engine/repair/find-obstacles.ts',
  'engine/values/convert-input.ts',
  'engine/values/exact-json.ts',
  'runtime/access/api-key-codec.ts',
  'runtime/audit/audit-log.ts',
  'runtime/changes/change-channel.ts',
  'runtime/fleet/node-details.ts',
  'runtime/instance-state/instance-views.ts',
  'runtime/instance-state/new-instance.ts',
  'runtime/memory/joined-reads.ts',
  'runtime/model/paging.ts',
  'runtime/model/parse-condition.ts',
  'runtime/notifications/change-announcer.ts',
  'runtime/notifications/notification-codec.ts',
  'runtime/operations/instance-control.ts',
  'runtime/operations/instance-queries.ts',
  'runtime/operations/step-list.ts',
  'runtime/passes/failed-attempts-log.ts',
  'runtime/secrets/secret-marks.ts',
  'runtime/trigger-records/trigger-state.ts',
  'runtime/triggers/event-triggers.ts',
  'runtime/triggers/publisher-permissions.ts',
  'runtime/triggers/trigger-scan.ts',
  'schemas/validation/exact-numbers.ts',
  'scripts/pyodide/boot-python.ts',
  'scripts/pyodide/check-seal.ts',
  'scripts/pyodide/child-main.ts',
  'scripts/pyodide/interpreter-process.ts',
  'scripts/pyodide/pyodide-module.ts',
  'scripts/pyodide/runner-calls.ts',
  'secrets/secret-mask.ts',
  'step-bodies/http-request/address-policy.ts',
  'step-bodies/http-request/request-url.ts',
  'store/copy-store.ts',
  'store/joined-starts.ts',
  'store/json-columns.ts',
  'store/memory/turns.ts',
  'store/mongo/archive/mongo-archive.ts',
  'store/mongo/archive/slot-access.ts',
  'store/mongo/side-records.ts',
  'store/mongo/slot-decisions.ts',
  'store/postgres/archive/read-records.ts',
  'store/postgres/archive/write-records.ts',
  'store/postgres/control.ts',
  'store/postgres/instance-rows.ts',
  'store/postgres/message-claims.ts',
  'store/postgres/messages.ts',
  'store/records/rates.ts',
  'store/sql/activities.ts',
  'store/sql/imported-turns.ts',
  'store/sql/item-slots.ts',
  'store/sql/slot-columns.ts',
  'store/sqlite/row.ts',
  'store/sqlite/statements/control.ts',
  'store/sqlite/statements/events.ts',
  'store/sqlite/statements/instance-lists.ts',
  'store/sqlite/statements/side-records.ts',
  'store/text-codec.ts',
  'store/text-search.ts',
  'test-kit/check-node.ts',
  'test-kit/files/differences.ts',
  'test-kit/files/pythons.ts',
  'test-kit/python.ts',
  'test-kit/seen-conditions.ts',
];

describe('the server source code', () => {
  it('parses and writes user data only with exact-json.ts', () => {
    const found = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('generated/'))
      .filter((file) =>
        /^(?!\s*(\*|\/\/)).*JSON\.(parse|stringify)\(/m.test(
          readFileSync(new URL(file, SOURCES), 'utf8'),
        ),
      );
    expect(found.sort()).toEqual(OWN_JSON);
  });
});
