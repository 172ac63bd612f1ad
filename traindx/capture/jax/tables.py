"""What is known of optax's optimizers and losses, and of JAX's activations, by their names."""

from traindx.capture.arrays.activations import Kind

OPTIMIZERS = ("sgd", "adam", "adamw", "adamax", "adagrad", "adadelta", "rmsprop", "lion", "lamb", "nadam", "nadamw",
              "radam", "adabelief", "yogi", "adafactor", "novograd", "noisy_sgd", "lars", "sm3", "fromage")  # fmt: skip
SETTINGS = {"momentum": "momentum", "b1": "beta1", "b2": "beta2", "eps": "eps", "nesterov": "nesterov",
            "weight_decay": "weight_decay"}  # fmt: skip
KINDS: dict[str, Kind] = {
    "relu": "rectifier",
    "relu6": "rectifier",
    "sigmoid": "sigmoid output",
    "tanh": "tanh output",
}
NAMES = {"relu": "ReLU", "relu6": "ReLU6", "sigmoid": "Sigmoid", "tanh": "Tanh"}
LOSSES = {"softmax_cross_entropy_with_integer_labels": "cross_entropy", "softmax_cross_entropy": "cross_entropy",
          "sigmoid_binary_cross_entropy": "binary_cross_entropy_with_logits", "squared_error": "mse_loss",
          "l2_loss": "mse_loss", "huber_loss": "huber_loss"}  # fmt: skip
