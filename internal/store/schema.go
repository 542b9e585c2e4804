package store

// factMigrations is the history of overt.db.
func factMigrations() []migration {
	return []migration{{"0001-record", `
CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL);
CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE); -- kinds, ids, models: written once, referred to by number
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
CREATE INDEX fact_task ON fact (task, seq) WHERE task IS NOT NULL;
CREATE INDEX fact_run  ON fact (run, seq)  WHERE run IS NOT NULL;
CREATE INDEX fact_kind ON fact (kind, seq);
CREATE VIEW facts AS SELECT f.seq, f.time, k.text AS kind, t.text AS task, r.text AS run, f.step, f.subject, f.parent, f.enc, f.data
  FROM fact f JOIN name k ON k.id = f.kind LEFT JOIN name t ON t.id = f.task LEFT JOIN name r ON r.id = f.run;
CREATE TABLE blob (            -- long texts of facts
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, bytes INTEGER NOT NULL, enc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE key (             -- idempotency; the result is facts first..last
  key TEXT PRIMARY KEY, fingerprint BLOB NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;

-- Projections: written in the transaction of the fact that changes them.
CREATE TABLE task (
  id INTEGER PRIMARY KEY, parent INTEGER, root INTEGER NOT NULL, origin TEXT NOT NULL, title TEXT, state TEXT NOT NULL,
  head INTEGER NOT NULL DEFAULT 0, -- the node that the task stands on
  model INTEGER, profile TEXT, pinned INTEGER NOT NULL DEFAULT 0, goal TEXT, goal_state TEXT,
  created INTEGER NOT NULL, changed INTEGER NOT NULL, last INTEGER NOT NULL); -- last: seq
CREATE INDEX task_list   ON task (state, pinned DESC, changed DESC, id);
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE TABLE run (
  id INTEGER PRIMARY KEY, task INTEGER NOT NULL, turn INTEGER, kind TEXT NOT NULL, status TEXT NOT NULL, reason TEXT,
  accepted INTEGER NOT NULL, ended INTEGER);
CREATE INDEX run_open ON run (accepted) WHERE ended IS NULL;
CREATE INDEX run_task ON run (task, accepted);
CREATE TABLE call (
  seq INTEGER PRIMARY KEY,     -- of call.started
  task INTEGER, run INTEGER, step INTEGER NOT NULL, attempt INTEGER NOT NULL, lane INTEGER NOT NULL, purpose TEXT NOT NULL,
  provider INTEGER, protocol INTEGER, model INTEGER, status TEXT NOT NULL, http INTEGER,
  fresh INTEGER, cache_read INTEGER, cache_write INTEGER, output INTEGER, reasoning INTEGER, coverage TEXT, -- NULL: not reported
  cost REAL, currency TEXT, first_byte_ms INTEGER, duration_ms INTEGER);
CREATE INDEX call_task ON call (task, seq);
CREATE INDEX call_lane ON call (lane, seq);
`}, {"0002-queue", `
CREATE TABLE queue (           -- inputs that came while a run was under way
  id TEXT PRIMARY KEY, task INTEGER NOT NULL, mode TEXT NOT NULL, state TEXT NOT NULL, added INTEGER NOT NULL) WITHOUT ROWID; -- added: seq
CREATE INDEX queue_task ON queue (task, added);
`}, {"0003-task-states", `
ALTER TABLE task ADD COLUMN reason TEXT;    -- of the state
ALTER TABLE task ADD COLUMN forked INTEGER; -- the node of the parent that the thread goes on from
`}, {"0004-cost", `
ALTER TABLE call ADD COLUMN nano_usd INTEGER;      -- cost in nano-dollars; cost and currency were never written
ALTER TABLE call ADD COLUMN cost_reported INTEGER; -- 1: as the server said; 0: tokens times prices
`}}
}

// captureMigrations is the history of captures.db.
func captureMigrations() []migration {
	return []migration{{"0001-captures", `
CREATE TABLE migration (name TEXT PRIMARY KEY, applied TEXT NOT NULL);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, bytes INTEGER NOT NULL, enc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX chunk_hash ON chunk (substr(hash, 1, 16));
CREATE TABLE part (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, chunk INTEGER NOT NULL REFERENCES chunk); -- equal bytes of two owners: two parts, one chunk
CREATE UNIQUE INDEX part_key ON part (chunk, owner);
CREATE TABLE body (
  id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, sha256 BLOB NOT NULL, masked INTEGER NOT NULL DEFAULT 0,
  enc INTEGER NOT NULL, parts BLOB NOT NULL); -- the whole list as runs
CREATE TABLE capture (
  id INTEGER PRIMARY KEY, call TEXT NOT NULL UNIQUE, lane TEXT NOT NULL, prev INTEGER, shared INTEGER NOT NULL, shared_bytes INTEGER NOT NULL, -- equal leading parts with prev
  method TEXT NOT NULL, url INTEGER NOT NULL, request_headers INTEGER NOT NULL, request INTEGER NOT NULL REFERENCES body, sent INTEGER NOT NULL, -- url, headers: part ids
  status INTEGER, response_headers INTEGER, response INTEGER REFERENCES body, timing BLOB, -- a byte for the form, then varints
  ended INTEGER, error TEXT);
CREATE INDEX capture_lane ON capture (lane);
`}, {"0002-outputs", `
CREATE TABLE output (          -- whole outputs of tools, where the model got less
  id TEXT PRIMARY KEY, task TEXT NOT NULL, body INTEGER NOT NULL REFERENCES body,
  raw INTEGER NOT NULL, capped INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID; -- raw: bytes as a command wrote them; capped: there was more
`}}
}
