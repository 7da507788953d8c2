import assert from "node:assert/strict";

import { Ajv2020 } from "ajv/dist/2020.js";

interface Described {
  $ref?: string;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, { responses: Record<string, Described> }>>;
}

/** Checks answers against the gateway's own description of them, an OpenAPI 3.1 document. */
export class Contract {
  readonly checked = new Set<string>();
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });
  readonly #document: Document;

  constructor(document: Document) {
    assert.match(document.openapi, /^3\.1/);
    this.#document = document;
    this.#ajv.addSchema(document, "openapi.json");
  }

  /** A fetch whose answers are checked. */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(String(input));
    await this.check(pathname, (init?.method ?? "GET").toLowerCase(), response.clone());
    return response;
  };

  async check(path: string, method: string, response: Response): Promise<void> {
    const text = await response.text();
    const described = this.#document.paths[path]?.[method]?.responses[response.status];
    assert.ok(described, `${method} ${path} answers ${response.status}, which is not described: ${text}`);
    const at = described.$ref ?? `#/paths/${path.replaceAll("/", "~1")}/${method}/responses/${response.status}`;
    const validate = this.#ajv.compile({ $ref: `openapi.json${at}/content/application~1json/schema` });
    assert.ok(validate(JSON.parse(text)), `${method} ${path}: ${this.#ajv.errorsText(validate.errors)}: ${text}`);
    this.checked.add(`${path} ${response.status}`);
  }
}
