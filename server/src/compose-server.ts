/** Puts the server together: the host, and HTTP in front of it. */
import type { Express } from 'express';
import type { AuthConfig } from './api/access/access-control.js';
import { createApp } from './api/create-app.js';
import { RequestMemory } from './api/http/request-memory.js';
import { composeHost, type ComposeOptions } from './compose-host.js';
import { apiLimits } from './config/limits.js';
import type { Config } from './config/settings.js';
import type { Host } from './runtime/host.js';

export interface Server {
  readonly app: Express;
  readonly host: Host;
}

/** @throws ConfigError when a setting cannot be used */
export async function composeServer(options: ComposeOptions): Promise<Server> {
  const { config, logger } = options;
  const { budget, callMemory, host, metrics, tracing } = await composeHost(options);
  const requestMemory = new RequestMemory({
    bodiesMax: budget.bodies,
    answersMax: budget.answers,
    refused: (what) => metrics.memoryRefused(what),
  });
  metrics.showMemory(() => ({
    instances: { used: host.memoryUsed, limit: budget.instances },
    calls: callMemory,
    ...requestMemory.usage,
  }));
  metrics.showAnswerMemory(requestMemory.answers);
  const app = createApp({
    host,
    logger,
    limits: apiLimits(config),
    ...accessOf(config),
    requestMemory,
    authorizationEnded: (reason) => metrics.authorizationEnded(reason),
    ...(tracing && { tracing }),
  });
  return { app, host };
}

function accessOf(config: Config) {
  return {
    auth: authOf(config),
    trustedProxies: config.trusted_proxies,
    allowedHosts: [...config.allowed_hosts, config.host],
    corsOrigins: config.cors_origins,
    traceUrl: config.trace_url,
  };
}

function authOf(config: Config): AuthConfig | null {
  if (!config.auth) return null;
  return {
    algorithm: config.alg,
    keys: keysOf(config),
    lifetimeSecondsMax: config.token_lifetime_seconds_max,
    clockToleranceSeconds: config.auth_clock_tolerance_seconds,
    scopeClaim: config.auth_scope_claim,
    ...(config.auth_issuer === null ? {} : { issuer: config.auth_issuer }),
    ...(config.auth_audience === null ? {} : { audience: config.auth_audience }),
    ...(config.auth_client_id !== null && {
      signIn: {
        clientId: config.auth_client_id,
        scope: config.auth_client_scope,
        parameters: config.auth_client_parameters,
      },
    }),
  };
}

/** `readConfig` has checked that there is exactly one. */
function keysOf({ issuer, jwks_url: keysUrl, publickey }: Config): AuthConfig['keys'] {
  if (issuer !== null) return { issuer };
  return keysUrl === null ? { publicKey: publickey ?? '' } : { keysUrl };
}
