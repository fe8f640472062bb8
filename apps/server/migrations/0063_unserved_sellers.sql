-- A group sells nothing of a server of which nobody knows that its proxy serves.
CREATE OR REPLACE VIEW inventory.sellers AS
  SELECT m.group_id, m.server_id, (s.refused_ranges || s.withheld_ranges)::inet[] AS refused_ranges
  FROM server_group_servers m
  JOIN server_groups g ON g.id = m.group_id AND g.deleted_at IS NULL
  JOIN servers s ON s.id = m.server_id AND s.deleted_at IS NULL AND s.status = 'active' AND NOT s.offline
    AND s.unserved_since IS NULL;
