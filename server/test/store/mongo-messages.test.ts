/**
 * Goal: the answer to a message rests only on what survives a failover of MongoDB.
 * Method: the commands that the driver sends to a real server for messages that are not simply added.
 */
import { randomUUID } from 'node:crypto';
import { MongoClient, type CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { collectionsOf } from '../../src/store/mongo/collections.js';
import { instanceDocumentOf } from '../../src/store/mongo/instance-documents.js';
import { postMessages } from '../../src/store/mongo/messages.js';
import {
  INBOX_BYTES_MAX,
  OVERFLOW_MESSAGE,
  type InboxMessage,
} from '../../src/store/records/messages.js';
import { mongoForTests } from '../support/mongo-container.js';
import { instanceOf } from './records.js';

const mongo = await mongoForTests();
const url = mongo?.url ?? 'mongodb://127.0.0.1';

describe.skipIf(mongo === null)('messages on MongoDB', () => {
  const client = new MongoClient(url, { monitorCommands: true, writeConcern: { w: 'majority' } });
  const database = client.db(`messages-${randomUUID()}`);
  const { instances } = collectionsOf(database);
  let commands: CommandStartedEvent[] = [];
  client.on('commandStarted', (command) => void commands.push(command));

  beforeAll(() => client.connect());
  beforeEach(() => instances.deleteMany({}));
  afterAll(async () => {
    await database.dropDatabase();
    await client.close();
  });

  async function insert(id: string, inbox: readonly InboxMessage[] = []): Promise<void> {
    await instances.insertOne(instanceDocumentOf(instanceOf(id, { inbox })));
  }

  async function post(...to: readonly (readonly [instanceId: string, messageId: string])[]) {
    commands = [];
    const messages = to.map(([instanceId, id]) => ({ instanceId, message: { id, body: '{}' } }));
    return postMessages({ instances }, [messages]);
  }
  const names = (): readonly string[] => commands.map(({ commandName }) => commandName);

  function expectAcknowledgedReads(): void {
    const reads = commands.filter(({ commandName }) => commandName === 'find');
    expect(reads).not.toHaveLength(0);
    for (const { command } of reads) {
      expect(command['readConcern']).toEqual({ level: 'majority' });
    }
  }

  it('counts a message as overflowed without a read if the inbox has the overflow message', async () => {
    const full = { id: 'long', body: 'x'.repeat(INBOX_BYTES_MAX) };
    await insert('i', [full, OVERFLOW_MESSAGE]);
    const before = await instances.findOne({ _id: 'i' });
    expect(await post(['i', 'm'])).toEqual([
      { instanceId: 'i', inSeq: 0, epoch: 1, owner: null, rested: false, overflowed: true },
    ]);
    expect(names()).toEqual(['findAndModify', 'findAndModify', 'findAndModify']);
    expect(await instances.findOne({ _id: 'i' })).toEqual({ ...before, wakeAt: 0 });
  });

  it('reads acknowledged changes to see if a message was already posted', async () => {
    await insert('i', [{ id: 'm', body: '{}' }]);
    expect(await post(['i', 'm'])).toEqual([
      { instanceId: 'i', inSeq: 0, epoch: 1, owner: null, rested: false },
    ]);
    expectAcknowledgedReads();
  });

  it('reads acknowledged changes to see which of several messages were posted', async () => {
    await insert('i', [{ id: 'm', body: '{}' }]);
    await insert('j');
    expect(await post(['i', 'm'], ['j', 'm'], ['gone', 'm'])).toEqual([
      { instanceId: 'i', inSeq: 0, epoch: 1, owner: null, rested: false },
      { instanceId: 'j', inSeq: 1, epoch: 1, owner: null, rested: false },
      null,
    ]);
    expectAcknowledgedReads();
  });
});
