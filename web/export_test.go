package web

// StageSpec is for tests that look at a run's whole stage.
var StageSpec = stageSpec
