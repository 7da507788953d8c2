import * as client from "@mcp-tool-gateway/client";

import { Contract } from "./contract.js";

const url = process.env["GATEWAY_URL"] ?? "";
const token = process.env["GATEWAY_TOKEN"] ?? "";

/** The folder that the gateway's server fs may use. */
export const files = process.env["GATEWAY_FILES"] ?? "";

/** Why the real gateway cannot be used; false if it can. */
export const skip = url === "" && "THE REAL GATEWAY IS NOT TESTED: go test -run Clients ./fixtures/interop starts one";

/** The description that the gateway gives of itself. */
export async function contractOf(): Promise<Contract> {
  const described = await fetch(url + "/openapi.json", { headers: { Authorization: `Bearer ${token}` } });
  return new Contract((await described.json()) as any);
}

/** A client of the real gateway. Whatever that answers is checked. */
export function connect(contract: Contract, options: client.GatewayOptions = {}): client.ToolGateway {
  return new client.ToolGateway(url, { token, timeout: 20_000, fetch: contract.fetch, ...options });
}
