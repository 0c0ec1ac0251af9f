/** Which hosts and addresses are rejected: tables of texts as URLs and resolvers give them. No network is used. */
import { describe, expect, it } from 'vitest';
import {
  createAddressPolicy,
  type AddressPolicyOptions,
} from '../../../src/step-bodies/http-request/address-policy.js';

function policyOf(options: Partial<AddressPolicyOptions>) {
  return createAddressPolicy({
    allowPrivate: true,
    allowLoopback: true,
    allowHosts: null,
    denyHosts: [],
    ...options,
  });
}

const open = policyOf({});
const closed = policyOf({ allowPrivate: false, allowLoopback: false });

const NEVER = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.0.1',
  '0.0.0.0',
  '0.1.2.3',
  '255.255.255.255',
  '224.0.0.1',
  '240.0.0.1',
  '192.0.2.1',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'ff02::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  '2001:db8::1',
  '2001:0:1::1',
  '100::1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '::ffff:0:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '::a9fe:a9fe',
  // Outside the allocated range (2000::/3).
  '1000::1',
  '4000::1',
  '5f00::1',
  'e000::1',
  '::ffff:0.0.0.0',
  'not an address',
  '',
  '1.2.3.4.5',
];

const PRIVATE = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.255',
  '198.18.0.1',
  'fc00::1',
  'fd12:3456::1',
  'fec0::1',
  '::ffff:10.0.0.1',
  '::ffff:c0a8:101',
  '64:ff9b::10.0.0.1',
  '2002:0a00:0001::1',
];

const LOOPBACK = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];

const PUBLIC = [
  '1.1.1.1',
  '93.184.216.34',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '169.253.1.1',
  '2606:4700:4700::1111',
  '::ffff:1.1.1.1',
  '64:ff9b::1.1.1.1',
];

describe('refuseAddress', () => {
  it.each(NEVER)('rejects %j with any settings', (address) => {
    expect(open.refuseAddress(address)).toMatch(/may not be called|not an address/);
    expect(policyOf({ allowHosts: ['0.0.0.0/0', '::/0'] }).refuseAddress(address)).not.toBeNull();
  });

  it.each(PRIVATE)('rejects the private address %s only by a setting', (address) => {
    expect(open.refuseAddress(address)).toBeNull();
    expect(policyOf({ allowPrivate: false }).refuseAddress(address)).toMatch(/private/);
  });

  it.each(LOOPBACK)('rejects the loopback address %s only by a setting', (address) => {
    expect(open.refuseAddress(address)).toBeNull();
    expect(policyOf({ allowLoopback: false }).refuseAddress(address)).toMatch(/loopback/);
  });

  it.each(PUBLIC)('allows the public address %s with any settings', (address) => {
    expect(closed.refuseAddress(address)).toBeNull();
  });

  it('rejects the address of an unlisted name if its range is denied', () => {
    const policy = policyOf({ denyHosts: ['10.1.0.0/16', '1.1.1.1', '2606:4700::/32'] });
    expect(policy.refuseAddress('10.1.2.3')).toMatch(/denied/);
    expect(policy.refuseAddress('::ffff:10.1.2.3')).toMatch(/denied/);
    expect(policy.refuseAddress('1.1.1.1')).toMatch(/denied/);
    expect(policy.refuseAddress('2606:4700::1')).toMatch(/denied/);
    expect(policy.refuseAddress('10.2.2.3')).toBeNull();
    expect(policy.refuseAddress('1.1.1.2')).toBeNull();
  });
});

describe('refuseHost', () => {
  it.each([
    'metadata.google.internal',
    'METADATA.google.internal.',
    'metadata',
    'metadata.goog',
    'instance-data.ec2.internal',
  ])('rejects the metadata name %s', (name) => {
    expect(policyOf({ allowHosts: [name] }).refuseHost(name)).toMatch(/metadata/);
  });

  /** Spellings of addresses, as the URL parser returns them. */
  it.each([
    ['http://0x7f.1/', /loopback/],
    ['http://2130706433/', /loopback/],
    ['http://017700000001/', /loopback/],
    ['http://127.1/', /loopback/],
    ['http://①②⑦.0.0.1/', /loopback/],
    ['http://[::ffff:127.0.0.1]/', /loopback/],
    ['http://[0:0:0:0:0:ffff:7f00:1]/', /loopback/],
    ['http://0/', /reserved/],
    ['http://0xA9FEA9FE/', /link-local/],
    ['http://2852039166/', /link-local/],
    ['http://[::ffff:169.254.169.254]/', /link-local/],
    ['http://[fd00:ec2::254]/', /metadata/],
    ['http://10.1/', /private/],
    ['http://0xac.0x10.1/', /private/],
  ])('recognizes the spelling %s', (url, reason) => {
    expect(closed.refuseHost(new URL(url).hostname)).toMatch(reason);
  });

  it('allows names, whose addresses are checked later', () => {
    expect(closed.refuseHost('example.com')).toBeNull();
    expect(closed.refuseHost('localhost')).toBeNull();
  });

  it('allows only listed hosts if there is a list of allowed hosts', () => {
    const policy = policyOf({ allowHosts: ['api.example.com', '*.corp.test', '10.0.0.0/8'] });
    for (const host of ['api.example.com', 'API.EXAMPLE.COM.', 'a.corp.test', 'a.b.corp.test']) {
      expect(policy.refuseHost(host)).toBeNull();
    }
    expect(policy.refuseHost('10.1.2.3')).toBeNull();
    expect(policy.refuseHost('[::ffff:10.1.2.3]')).toBeNull();
    for (const host of [
      'example.com',
      'corp.test',
      'evilcorp.test',
      'api.example.com.evil.test',
      '11.0.0.1',
      '127.0.0.1',
    ]) {
      expect(policy.refuseHost(host)).toMatch(/not on the list/);
    }
  });

  it('rejects every host if the list of allowed hosts is empty', () => {
    expect(policyOf({ allowHosts: [] }).refuseHost('example.com')).toMatch(/not on the list/);
  });

  it('does not allow a class of addresses because a host in it is allowed', () => {
    const policy = policyOf({ allowPrivate: false, allowHosts: ['10.0.0.0/8'] });
    expect(policy.refuseHost('10.1.2.3')).toMatch(/private/);
  });

  it('gives the list of denied hosts precedence', () => {
    const policy = policyOf({
      allowHosts: ['*.example.com'],
      denyHosts: ['admin.example.com', '*.internal.example.com'],
    });
    expect(policy.refuseHost('admin.example.com')).toMatch(/denied/);
    expect(policy.refuseHost('x.internal.example.com')).toMatch(/denied/);
    expect(policy.refuseHost('www.example.com')).toBeNull();
  });
});

describe('createAddressPolicy', () => {
  it.each([
    'http://example.com',
    'a b',
    '',
    '*',
    '*.',
    '10.0.0.0/40',
    'exa$mple',
    'host:80',
    '*.*',
  ])('rejects the invalid entry %j by name', (entry) => {
    expect(() => policyOf({ denyHosts: [entry] })).toThrow(JSON.stringify(entry));
  });
});
