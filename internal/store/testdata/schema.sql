-- overt.db
CREATE INDEX call_lane ON call (lane, seq);
CREATE INDEX call_task ON call (task, seq);
CREATE INDEX fact_kind ON fact (kind, seq);
CREATE INDEX fact_run  ON fact (run, seq)  WHERE run IS NOT NULL;
CREATE INDEX fact_task ON fact (task, seq) WHERE task IS NOT NULL;
CREATE INDEX queue_task ON queue (task, added);
CREATE INDEX run_open ON run (accepted) WHERE ended IS NULL;
CREATE INDEX run_task ON run (task, accepted);
CREATE INDEX task_list   ON task (state, pinned DESC, changed DESC, id);
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE TABLE blob (            -- long texts of facts
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes INTEGER NOT NULL, enc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE call (
  seq INTEGER PRIMARY KEY,     -- of call.started
  task INTEGER, run INTEGER, step INTEGER NOT NULL, attempt INTEGER NOT NULL, lane INTEGER NOT NULL, purpose TEXT NOT NULL,
  provider INTEGER, protocol INTEGER, model INTEGER, status TEXT NOT NULL, http INTEGER,
  fresh INTEGER, cache_read INTEGER, cache_write INTEGER, output INTEGER, reasoning INTEGER, coverage TEXT, -- NULL: not reported
  cost REAL, currency TEXT, first_byte_ms INTEGER, duration_ms INTEGER, nano_usd INTEGER, cost_reported INTEGER);
CREATE TABLE fact (
  seq     INTEGER PRIMARY KEY, -- max+1 inside the transaction: a rollback leaves no gap
  time    INTEGER NOT NULL,    -- Unix milliseconds
  kind    INTEGER NOT NULL, v INTEGER NOT NULL,
  session INTEGER, task INTEGER, turn INTEGER, run INTEGER, step INTEGER, -- name.id
  subject TEXT,                -- with ~ for the letters of the run
  parent  INTEGER,             -- nodes only; 0 = root
  enc     INTEGER NOT NULL,    -- 0 JSON, 1 deflate with dictionary 1
  data    BLOB
);
CREATE TABLE key (             -- idempotency; the result is facts first..last
  key TEXT PRIMARY KEY, fingerprint BLOB NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL);
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE queue (           -- inputs that came while a run was under way
  id TEXT PRIMARY KEY, task INTEGER NOT NULL, mode TEXT NOT NULL, state TEXT NOT NULL, added INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE run (
  id INTEGER PRIMARY KEY, task INTEGER NOT NULL, turn INTEGER, kind TEXT NOT NULL, status TEXT NOT NULL, reason TEXT,
  accepted INTEGER NOT NULL, ended INTEGER);
CREATE TABLE task (
  id INTEGER PRIMARY KEY, parent INTEGER, root INTEGER NOT NULL, origin TEXT NOT NULL, title TEXT, state TEXT NOT NULL,
  head INTEGER NOT NULL DEFAULT 0, -- the node that the task stands on
  model INTEGER, profile TEXT, pinned INTEGER NOT NULL DEFAULT 0, goal TEXT, goal_state TEXT,
  created INTEGER NOT NULL, changed INTEGER NOT NULL, last INTEGER NOT NULL, reason TEXT, forked INTEGER);
CREATE VIEW facts AS SELECT f.seq, f.time, k.text AS kind, t.text AS task, r.text AS run, f.step, f.subject, f.parent, f.enc, f.data
  FROM fact f JOIN name k ON k.id = f.kind LEFT JOIN name t ON t.id = f.task LEFT JOIN name r ON r.id = f.run;
migration 0001-record;
migration 0002-queue;
migration 0003-task-states;
migration 0004-cost;
-- captures.db
CREATE INDEX capture_lane ON capture (lane);
CREATE TABLE body (
  id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, masked INTEGER NOT NULL DEFAULT 0,
  enc INTEGER NOT NULL, parts BLOB NOT NULL);
CREATE TABLE capture (
  id INTEGER PRIMARY KEY, call TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, prev INTEGER, shared INTEGER NOT NULL, shared_bytes INTEGER NOT NULL, -- equal leading parts with prev
  method TEXT NOT NULL, url INTEGER NOT NULL, request_headers INTEGER NOT NULL, request INTEGER NOT NULL REFERENCES body, sent INTEGER NOT NULL, -- url, headers: part ids
  status INTEGER, response_headers INTEGER, response INTEGER REFERENCES body, timing BLOB, -- a byte for the form, then varints
  ended INTEGER, error TEXT);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, bytes INTEGER NOT NULL, enc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL);
CREATE TABLE output (          -- whole outputs of tools, where the model got less
  id TEXT PRIMARY KEY, task TEXT NOT NULL, body INTEGER NOT NULL REFERENCES body,
  raw INTEGER NOT NULL, capped INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE part (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, chunk INTEGER NOT NULL REFERENCES chunk);
CREATE UNIQUE INDEX chunk_hash ON chunk (substr(hash, 1, 16));
CREATE UNIQUE INDEX part_key ON part (chunk, owner);
migration 0001-captures;
migration 0002-outputs;
